/// Where a download stands. A pure value.
struct DownloadState {
    private enum Phase {
        /// There is no partial file.
        case empty
        case partial(PartialFile)
        /// The partial file gets its name. After the end of the operation nobody else removes it.
        case moving(PartialFile, isOver: Bool)
        /// The file is in its place.
        case moved(PublishedFile)
        /// The operation has ended.
        case over
    }

    /// In how many segments an attempt requests the file at first.
    private let width: Int
    private var phase = Phase.empty
    /// The number of the attempt that may write. An abandoned attempt may still run.
    private(set) var attempt = 0
    var step: SegmentStep
    /// Whether a response of the running attempt, with status 416, said that nothing is left to send.
    var isComplete = false
    /// Whether the file is put together of several responses, or of an earlier operation's bytes.
    private var isCombined = false
    /// What the partial file is a part of; `nil` if its bytes are wrong.
    var record: PartialRecord?
    /// Where the file goes.
    private(set) var target: URL?
    /// The digests that the server named for the whole file.
    private(set) var serverDigests: [FileDigest] = []
    /// How many bytes were there before the last response.
    private(set) var resumedBytes: Int64 = 0
    /// The parts that follow the partial file, in order. Each is in a file of its own until what comes before it is there.
    var segments: [PartialFile] = []
    /// What receives the progress of the running attempt.
    var listener: (@Sendable (TransferProgress) -> Void)?
    private var lastReport: ContinuousClock.Instant?
    /// The file of an attempt whose value was not accepted.
    private(set) var published: PublishedFile?
    /// How many bytes there were at most after an attempt.
    private var furthest: Int64 = 0

    init(segments width: Int = 1) {
        self.width = width
        step = .segments(width)
    }

    /// The partial file, if the operation has one and has not ended.
    var file: PartialFile? {
        if case .partial(let file) = phase { file } else { nil }
    }

    var isOver: Bool {
        switch phase {
        case .over, .moving(_, isOver: true): true
        default: false
        }
    }

    /// How many bytes are in segments.
    var bytesInSegments: Int64 { segments.reduce(0) { $0 + $1.size } }

    /// How many bytes of the whole file are there.
    var received: Int64 { (file?.size ?? 0) + bytesInSegments }

    // MARK: Attempts

    /// Begins an attempt. Returns its number, or `nil` if the operation has ended.
    mutating func beginAttempt() -> Int? {
        guard !isOver else { return nil }
        // A value that is not accepted leads to another attempt, which begins anew.
        if case .moved(let file) = phase {
            phase = .empty
            published = file
            record = nil
            target = nil
            furthest = 0
        }
        attempt += 1
        isComplete = false
        if step != .whole { step = .segments(width) }
        return attempt
    }

    /// Whether an attempt may write.
    func mayWrite(_ attempt: Int) -> Bool { attempt == self.attempt && !isOver }

    /// Notes how far the file has come. Returns whether that is further than ever.
    mutating func noteGrowth() -> Bool {
        defer { furthest = max(furthest, received) }
        return received > furthest
    }

    /// Whether the download may begin again at once after a failure: after wrong bytes in a file of several parts, or if the
    /// file changed between its segments. It may do so once.
    mutating func beginAgain(after code: RequestError.Code) -> Bool {
        let isSpoilt = code == .digestMismatch || file != nil && record == nil
        guard step == .changed || isCombined && isSpoilt, step != .whole else { return false }
        step = .whole
        return true
    }

    // MARK: Files

    /// Takes over a partial file. Returns `false` if the operation has ended.
    mutating func keep(_ file: PartialFile, _ record: PartialRecord?) -> Bool {
        guard case .empty = phase else { return false }
        phase = .partial(file)
        self.record = record
        isCombined = false
        return true
    }

    /// Releases the partial file, because it is gone or is of no use.
    mutating func dropFile() {
        guard case .partial = phase else { return }
        phase = .empty
        record = nil
    }

    /// A response with the whole file begins.
    mutating func begin(_ record: PartialRecord?, target: URL, digest: FileDigest?) {
        self.record = record
        self.target = target
        serverDigests = digest.map { [$0] } ?? []
        isCombined = false
        resumedBytes = 0
    }

    /// A response with the rest of the file begins, or one that says that nothing is left.
    mutating func goOn(total: Int64?, target: URL, digest: FileDigest?) {
        record?.total = total
        self.target = target
        if let digest { serverDigests.append(digest) }
        isCombined = true
        resumedBytes = received
    }

    /// Keeps the segments that are about to be downloaded. Returns `false` if the operation has ended.
    mutating func keep(_ segments: [PartialFile]) -> Bool {
        guard !isOver else { return false }
        self.segments = segments
        isCombined = true
        return true
    }

    /// Takes all segments out.
    mutating func takeSegments() -> [PartialFile] {
        defer { segments = [] }
        record?.segments = nil
        return segments
    }

    /// The progress to report; `nil` if the last report is less than 50 ms old.
    mutating func listenerToNotify(isLast: Bool) -> (@Sendable (TransferProgress) -> Void)? {
        let now = ContinuousClock.now
        if let last = lastReport, !isLast, now - last < .milliseconds(50) { return nil }
        lastReport = now
        return listener
    }

    // MARK: The end

    /// Begins to give the partial file its name. `nil` if there is none, or the operation has ended.
    mutating func beginMove() -> PartialFile? {
        guard case .partial(let file) = phase else { return nil }
        phase = .moving(file, isOver: false)
        return file
    }

    /// The partial file has its name.
    mutating func moved(_ published: PublishedFile) {
        guard case .moving(_, let isOver) = phase else { return }
        phase = isOver ? .over : .moved(published)
    }

    /// The partial file could not get its name. Returns whether the operation has ended meanwhile.
    mutating func moveFailed() -> Bool {
        guard case .moving(let file, let isOver) = phase else { return false }
        phase = isOver ? .over : .partial(file)
        return isOver
    }

    /// The operation has ended. Returns the partial file that it leaves.
    mutating func end() -> PartialFile? {
        if case .moving(let file, _) = phase {
            phase = .moving(file, isOver: true)
            return nil
        }
        defer { phase = .over }
        return file
    }
}

/// In how many segments a download requests what is missing. A pure state machine.
///
/// ```
/// segments(4) ──▶ segments(3) … ──▶ segments(1)
///      ├───────────────┴─────────────────┤
///      ▼                                 ▼
///    failed                           changed ── wrong bytes ──▶ whole
/// ```
enum SegmentStep: Sendable, Hashable {
    /// At most so many segments are requested at once. If it is one from the start, the file comes in one response.
    case segments(Int)
    /// The segments failed. They were retried by themselves, so the attempt is the last one.
    case failed
    /// A response to a request for a segment was of another state of the file.
    case changed
    /// The file had wrong bytes. This attempt and all later ones request it without segments.
    case whole

    /// A response showed another state of the file. A file that is requested as a whole stays so.
    mutating func noteChange() {
        if case .segments = self { self = .changed }
    }

    /// Some segments have failed for good. If the server only wants fewer connections, fewer are requested at once.
    ///
    /// - Parameters:
    ///   - count: How many have failed or were cancelled.
    ///   - refusals: How the server has refused each of those that were not cancelled; `nil` for one that failed in another way.
    ///   - hasGrown: Whether bytes of any segment have come.
    mutating func stepDown(by count: Int, after refusals: [SegmentOperation.Refusal?], hasGrown: Bool) {
        guard case .segments(let width) = self else { return }
        if width > 1, hasGrown, !refusals.contains(nil) {
            self = .segments(max(width - count, 1))
        } else {
            self = refusals.contains(.anotherState) ? .changed : .failed
        }
    }
}
