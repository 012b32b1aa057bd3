/// What is known of one transfer over a session task: the state behind the lock of ``Transfer``.
///
/// The delegate side reports what arrives, the Task of `perform` takes events and says what becomes of the body.
/// Nothing here waits, calls out or touches a file; what has to be done is returned.
struct TransferState {
    /// The delegate side's half: the session task.
    var wire = Wire.idle
    /// The response's half.
    private(set) var phase = Phase.awaitsHead
    /// How it ended; the first ending counts.
    private(set) var end: Ending?
    private(set) var inbox = Inbox()
    private(set) var progress = TransferProgress()
    private(set) var firstByte: ContinuousClock.Instant?
    private(set) var lastActivity = ContinuousClock.now

    /// The Task, if it waits for an event.
    var waiter: CheckedContinuation<Event, Never>?
    /// Entries in the heap of deadlines: for an idle connection, and for a head or a rejected body that is overdue.
    /// `nil` when nobody listens any more.
    private(set) var alarms: [DeadlineHeap.Entry]? = []

    private let limits: TransferLimits
    private let keepsInMemory: Bool
    /// When progress was reported last; `nil` if nobody wants to hear of it.
    private var lastReport: ContinuousClock.Instant?
    private var reported = TransferProgress()

    /// The life of the session task.
    enum Wire {
        case idle
        case running(URLSessionTask)
        /// `cancel()` has been called or is about to be; the semaphore is signalled when that call has taken effect.
        case cancelling(DispatchSemaphore)
        case done
    }

    enum Phase {
        case awaitsHead
        /// Held back until the body is whole, or large, or overdue, so that a small response costs one wake-up.
        case arrived(ResponseHead, isDue: Bool)
        /// The Task has it.
        case judging(ResponseHead)
        case accepted(ResponseHead, Sink)
        case rejected(ResponseHead, prefix: Data)
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
        /// The phase is `nil` where it follows from what had been sent and received.
        case failed(any Error, phase: TransferFailure.Phase?)
        /// The rest of a rejected body is not worth reading.
        case cut
        /// The connection, a kept one, was dead, and Foundation would send the request again without its body.
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
        keepsInMemory = if case .memory = task.destination { true } else { false }
        lastReport = task.onProgress == nil ? nil : .now
        progress.bytesToSend = bytesToSend
        reported = progress
    }

    // MARK: The delegate side

    /// The head of the last response counts, until the Task has taken one. Whether it is held back for its body.
    mutating func receive(_ head: ResponseHead, length: Int64?) -> Bool {
        lastActivity = .now
        guard end == nil else { return false }
        switch phase {
        case .awaitsHead, .arrived:
            firstByte = firstByte ?? lastActivity
            let isDue = (length ?? 0) > Inbox.eagerSize
            phase = .arrived(head, isDue: isDue)
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
        if case .rejected(let head, let prefix) = phase {
            phase = .rejected(head, prefix: prefix + data.prefix(max(limits.keptErrorBody - prefix.count, 0)))
            if progress.bytesReceived > Int64(limits.errorBodyLimit) { end = .cut }
            return .none
        }
        if let maximum = limits.maximumBodySize, progress.bytesReceived > Int64(maximum) {
            end = .failed(RequestError.bodyTooLarge(maximum), phase: .body)
            return .none
        }
        if case .accepted(_, .file(let sink)) = phase { return .write(data, sink) }
        if case .arrived(let head, isDue: false) = phase, progress.bytesReceived >= Inbox.eagerSize {
            phase = .arrived(head, isDue: true)
        }
        guard keepsInMemory || inbox.hasRoom else { return .spill(data, into: inbox.file) }
        inbox.append(data)
        return .none
    }

    /// Bytes were kept in a file. If the body was handed over while they were written, nobody would look for them there:
    /// they are to be written to the file that is returned.
    mutating func spilled(_ count: Int, into file: TemporaryFile) -> FileSink? {
        if case .accepted(_, .file(let sink)) = phase { return end == nil ? sink : nil }
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
        if case .arrived(let head, _) = phase { phase = .arrived(head, isDue: true) }
    }

    /// Something moved that is of no other consequence.
    mutating func restartIdleTime() {
        lastActivity = .now
    }

    /// Keeps an alarm until the end; whether it is still wanted.
    mutating func add(_ alarm: DeadlineHeap.Entry) -> Bool {
        alarms?.append(alarm) != nil
    }

    /// Nobody listens any more; returns the alarms that are not wanted then.
    mutating func close() -> [DeadlineHeap.Entry] {
        finish(.cancelled)
        defer { alarms = nil }
        return alarms ?? []
    }

    /// Ends the transfer if nothing moved for the limit; otherwise returns how long it may still rest.
    mutating func checkIdleTime(_ limit: Duration) -> Duration? {
        guard end == nil else { return nil }
        let idle = lastActivity.duration(to: .now)
        guard idle >= limit else { return limit - idle }
        end = .failed(
            RequestError(.timedOut, stage: .transfer, reason: "no byte came or went for \(limit)"), phase: nil)
        return nil
    }

    // MARK: The Task

    /// What the Task is to hear next, if there is anything.
    mutating func nextEvent() -> Event? {
        if let report = nextReport() { return .progress(report) }
        switch phase {
        case .awaitsHead:
            return end.map(Event.ended)
        case .arrived(let head, let isDue):
            if case .cancelled = end { return .ended(.cancelled) }
            guard isDue || end != nil else { return nil }
            phase = .judging(head)
            return .head(head)
        case .accepted(_, .consumer):
            if case .cancelled = end { return .ended(.cancelled) }
            if let pieces = inbox.take() { return .pieces(pieces) }
            return end.map(Event.ended)
        case .judging, .accepted, .rejected:
            return end.map(Event.ended)
        }
    }

    /// Decides where the body goes.
    mutating func accept(_ sink: Sink) {
        if let head { phase = .accepted(head, sink) }
    }

    /// Hands an accepted body over to the delegate side, unless there are bytes that the Task has to write first: these
    /// are returned.
    mutating func handOver(to file: FileSink) -> Inbox.Pieces? {
        if let pieces = inbox.take() { return pieces }
        accept(.file(file))
        return nil
    }

    /// Drops the body; whether the rest of it is still to be read.
    mutating func reject() -> Bool {
        guard let head else { return false }
        phase = .rejected(head, prefix: inbox.prefix(max(limits.keptErrorBody, 0)))
        inbox = Inbox()
        if limits.errorBodyLimit == 0 || progress.bytesReceived > Int64(limits.errorBodyLimit) { finish(.cut) }
        return end == nil
    }

    var head: ResponseHead? {
        switch phase {
        case .awaitsHead: nil
        case .arrived(let head, _), .judging(let head), .accepted(let head, _), .rejected(let head, _): head
        }
    }

    /// How far the transfer came, as far as URLSession lets it be known.
    var reached: TransferFailure.Phase {
        if head != nil { return .body }
        if let bytesToSend = progress.bytesToSend, progress.bytesSent < bytesToSend { return .request }
        return .head
    }

    var bodyPrefix: Data {
        if case .rejected(_, let prefix) = phase { prefix } else { Data() }
    }

    mutating func takeBody() -> Data {
        inbox.takeBody()
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

extension RequestError {
    static func bodyTooLarge(_ maximum: Int) -> RequestError {
        RequestError(.bodyTooLarge, stage: .transfer, reason: "the body is larger than \(maximum) bytes")
    }
}
