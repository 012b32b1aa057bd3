/// What is known about one transfer over a session task: the state behind the lock of ``SessionTransfer``.
///
/// The delegate side reports what arrives. The Task of `perform` takes events and decides where the body goes. No
/// function here waits, calls other code or touches a file. It returns what the caller must do.
struct SessionTransferState {
    /// The state of the session task, for the delegate side.
    var wire = Wire.idle
    /// The state of the response.
    private(set) var phase = Phase.awaitsHead
    /// The last head that came.
    private(set) var head: ResponseHead?
    /// How the transfer ended. The first ending counts.
    private(set) var end: Ending?
    var inbox = Inbox()
    private(set) var progress = TransferProgress()
    private(set) var firstByte: ContinuousClock.Instant?
    /// When something last moved, for the idle limit.
    var lastActivity = ContinuousClock.now

    /// The continuation of the Task, if it waits for an event.
    var waiter: CheckedContinuation<Event, Never>?
    /// Entries in the heap of deadlines: for an idle connection, for an overdue head and for an overdue rejected body.
    /// `nil` after the transfer is closed.
    private(set) var alarms: [DeadlineHeap.Entry]? = []

    private let limits: TransferLimits
    private let keepsInMemory: Bool
    /// When progress was last reported; `nil` if no one asked for progress.
    private var lastReport: ContinuousClock.Instant?
    private var reported = TransferProgress()

    /// The life of the session task.
    enum Wire {
        case idle
        case running(URLSessionTask)
        /// `cancel()` has been called or will be called next. The semaphore is signalled when the call has taken
        /// effect.
        case cancelling(DispatchSemaphore)
        case done
    }

    enum Phase {
        case awaitsHead
        /// We hold the head back until the body is complete, large or overdue. So a small response costs only one
        /// wake-up.
        case arrived(isDue: Bool)
        /// The Task has the head and judges it.
        case judging
        case accepted(Sink)
        case rejected(prefix: Data)
    }

    /// Where an accepted body goes.
    enum Sink {
        /// It stays in the inbox.
        case memory
        /// The Task takes it out of the inbox piece by piece.
        case consumer
        /// The delegate side writes it.
        case file(FileSink)
    }

    enum Ending {
        case whole
        /// The phase is `nil` if it follows from what was sent and received.
        case failed(any Error, phase: TransferFailure.Phase?)
        /// The transfer stopped before the end of a rejected body, because the rest is not worth reading.
        case cut
        /// A kept connection was dead, and Foundation would send the request again without its body.
        case deadConnection
        case cancelled
    }

    enum Event {
        case head(ResponseHead)
        case pieces(Inbox.Pieces)
        case progress(TransferProgress)
        case ended(Ending)
    }

    /// What the delegate side does with a piece once the lock is free.
    enum Delivery {
        case none
        case spill(Data, into: TemporaryFile?)
        case write(Data, FileSink)
    }

    init(_ task: TransportTask, limits: TransferLimits, bytesToSend: Int64?) {
        self.limits = limits
        keepsInMemory = task.destination.isMemory
        lastReport = task.onProgress == nil ? nil : .now
        progress.bytesToSend = bytesToSend
        reported = progress
    }

    // MARK: The delegate side

    /// Takes the head of a response; a later head replaces it until the Task has taken one. Returns whether it is held
    /// back.
    mutating func receive(_ head: ResponseHead, length: Int64?) -> Bool {
        lastActivity = .now
        guard end == nil else { return false }
        switch phase {
        case .awaitsHead, .arrived:
            firstByte = firstByte ?? lastActivity
            let isDue = (length ?? 0) > Inbox.eagerSize
            phase = .arrived(isDue: isDue)
            self.head = head
            inbox = Inbox()
            progress.bytesReceived = 0
            progress.bytesToReceive = length
            return !isDue
        case .judging, .accepted, .rejected:
            return false
        }
    }

    mutating func receive(_ data: Data) -> Delivery {
        lastActivity = .now
        guard end == nil else { return .none }
        progress.bytesReceived += Int64(data.count)
        if case .rejected(let prefix) = phase {
            phase = .rejected(prefix: prefix + data.prefix(max(limits.keptErrorBody - prefix.count, 0)))
            if progress.bytesReceived > Int64(limits.errorBodyLimit) { end = .cut }
            return .none
        }
        if let maximum = limits.maximumBodySize, progress.bytesReceived > Int64(maximum) {
            end = .failed(RequestError(.bodyTooLarge, "the body is larger than \(maximum) bytes"), phase: .body)
            return .none
        }
        if case .accepted(.file(let sink)) = phase { return .write(data, sink) }
        if progress.bytesReceived >= Inbox.eagerSize { makeHeadDue() }
        guard keepsInMemory || inbox.hasRoom else { return .spill(data, into: inbox.file) }
        inbox.append(data)
        return .none
    }

    /// Notes that bytes were kept in a temporary file.
    ///
    /// The body may have been handed over while those bytes were written. Then these bytes would stay unread in the
    /// temporary file. In that case this returns the file to which the caller must write them.
    mutating func spilled(_ count: Int, into file: TemporaryFile) -> FileSink? {
        if case .accepted(.file(let sink)) = phase { return end == nil ? sink : nil }
        inbox.spilled(count, into: file)
        return nil
    }

    mutating func sent(_ total: Int64) {
        lastActivity = .now
        progress.bytesSent = max(total, progress.bytesSent)
    }

    mutating func finish(_ ending: Ending) {
        if end == nil { end = ending }
    }

    mutating func makeHeadDue() {
        if case .arrived = phase { phase = .arrived(isDue: true) }
    }

    /// Keeps an alarm until the end. Returns `false` if the transfer is closed and the alarm is not needed.
    mutating func add(_ alarm: DeadlineHeap.Entry) -> Bool {
        alarms?.append(alarm) != nil
    }

    /// Closes the transfer. Returns the alarms that are no longer needed.
    mutating func close() -> [DeadlineHeap.Entry] {
        finish(.cancelled)
        defer { alarms = nil }
        return alarms ?? []
    }

    /// Ends the transfer if nothing moved for the time of the limit. Otherwise returns how long the transfer may still
    /// rest.
    mutating func checkIdleTime(_ limit: Duration) -> Duration? {
        guard end == nil else { return nil }
        let idle = lastActivity.duration(to: .now)
        guard idle >= limit else { return limit - idle }
        end = .failed(
            RequestError(.timedOut, "no byte was sent or received for \(limit)"), phase: nil)
        return nil
    }

    // MARK: The Task

    /// The next event for the Task, if there is one.
    mutating func nextEvent() -> Event? {
        if let report = nextReport() { return .progress(report) }
        switch phase {
        case .awaitsHead:
            return end.map(Event.ended)
        case .arrived(let isDue):
            if case .cancelled = end { return .ended(.cancelled) }
            guard let head, isDue || end != nil else { return nil }
            phase = .judging
            return .head(head)
        case .accepted(.consumer):
            if case .cancelled = end { return .ended(.cancelled) }
            if let pieces = inbox.take() { return .pieces(pieces) }
            return end.map(Event.ended)
        case .judging, .accepted, .rejected:
            return end.map(Event.ended)
        }
    }

    /// Decides where the body goes.
    mutating func accept(_ sink: Sink) {
        phase = .accepted(sink)
    }

    /// Hands an accepted body over to the delegate side. If the Task must write some bytes first, it returns those and
    /// hands nothing over.
    mutating func handOver(to file: FileSink) -> Inbox.Pieces? {
        if let pieces = inbox.take() { return pieces }
        accept(.file(file))
        return nil
    }

    /// Drops the body. Returns whether the rest of the body must still be read.
    mutating func reject() -> Bool {
        phase = .rejected(prefix: inbox.prefix(max(limits.keptErrorBody, 0)))
        inbox = Inbox()
        if limits.errorBodyLimit == 0 || progress.bytesReceived > Int64(limits.errorBodyLimit) { finish(.cut) }
        return end == nil
    }

    /// How far the transfer came, as far as URLSession shows it.
    var reached: TransferFailure.Phase {
        if head != nil { return .body }
        if let bytesToSend = progress.bytesToSend, progress.bytesSent < bytesToSend { return .request }
        return .head
    }

    var bodyPrefix: Data {
        if case .rejected(let prefix) = phase { prefix } else { Data() }
    }

    private mutating func nextReport() -> TransferProgress? {
        guard let last = lastReport, progress != reported, end == nil else { return nil }
        let now = ContinuousClock.now
        guard now - last >= .milliseconds(50) else { return nil }
        lastReport = now
        reported = progress
        return progress
    }
}

/// Bytes that have arrived and wait for the Task.
///
/// URLSession on Linux cannot be told to wait. So this keeps what the reader does not take in time: up to ``roomSize``
/// in memory, and the rest in a temporary file. A slow consumer then costs disk space, but no memory, and no bytes are
/// lost. (A body that goes to memory stays in memory. It has its own limit.)
struct Inbox {
    /// From this number of body bytes on, we no longer hold back a head to wait for the rest of the body.
    static let eagerSize: Int64 = 64 << 10
    /// How many bytes are kept in memory for a consumer or a file.
    static let roomSize = 1 << 20

    private var chunks: [Data] = []
    private var size = 0
    private(set) var file: TemporaryFile?
    /// The part of the file that has not been taken.
    private var unread = 0..<0

    /// Bytes taken out, in their order.
    struct Pieces {
        var chunks: [Data] = []
        var spilled: (file: TemporaryFile, range: Range<Int>)?
    }

    /// Whether the next bytes can stay in memory. They must not overtake the bytes in the file.
    var hasRoom: Bool {
        unread.isEmpty && size < Self.roomSize
    }

    mutating func append(_ data: Data) {
        chunks.append(data)
        size += data.count
    }

    mutating func spilled(_ count: Int, into file: TemporaryFile) {
        self.file = file
        unread = unread.lowerBound..<(unread.upperBound + count)
    }

    /// Takes everything. The bytes in memory came before the bytes in the file.
    mutating func take() -> Pieces? {
        guard size > 0 || !unread.isEmpty else { return nil }
        var pieces = Pieces(chunks: chunks)
        if let file, !unread.isEmpty { pieces.spilled = (file, unread) }
        chunks = []
        size = 0
        unread = unread.upperBound..<unread.upperBound
        return pieces
    }

    /// The first bytes. They are all in memory: bytes go to the file only when memory is full, and that is more than a
    /// prefix.
    func prefix(_ count: Int) -> Data {
        var prefix = Data()
        for chunk in chunks where prefix.count < count { prefix.append(chunk.prefix(count - prefix.count)) }
        return prefix
    }

    mutating func takeBody() -> Data {
        defer { self = Inbox() }
        guard chunks.count > 1 else { return chunks.first ?? Data() }
        var body = Data(capacity: size)
        for chunk in chunks { body.append(chunk) }
        return body
    }
}
