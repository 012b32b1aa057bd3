/// The `Progress` of one operation, in bytes of the request's and the response's body, and its updates.
///
/// It never decreases. A later attempt counts once it is further than the earlier ones.
// Unchecked like its superclass, which has the lock. The other properties have locks of their own.
final class OperationProgress: LockedProgress, @unchecked Sendable {
    private let state = Locked(ProgressState())
    private let updates = Broadcast(ProgressUpdate())

    /// Makes the progress of an operation. Its total is unknown until an attempt reports it.
    ///
    /// - Parameter cancel: Cancels the operation, when the progress is cancelled.
    init(cancel: @escaping @Sendable () -> Void) {
        super.init()
        totalUnitCount = -1
        isPausable = false
        cancellationHandler = cancel
    }

    /// The present state and each change, of which only the newest is kept. It ends with the operation.
    func stream() -> AsyncStream<ProgressUpdate> { updates.stream() }

    /// A new attempt begins.
    func beginAttempt() {
        state.withLock { $0.beginAttempt() }
    }

    /// Takes in how far the transfer of an attempt has come.
    func report(_ transfer: TransferProgress, at moment: Duration) {
        let news = state.withLock { $0.report(transfer, at: moment) ? $0 : nil }
        if let news { publish(news) }
    }

    /// The operation has succeeded: everything is there.
    func finish() {
        let news = state.withLock { $0.finish() ? $0 : nil }
        if let news { publish(news) }
        end()
    }

    /// The operation has ended, so nothing follows.
    func end() {
        updates.end()
    }

    private func publish(_ news: ProgressState) {
        let update = news.update
        lock.withLock {
            // Two threads may arrive here in the wrong order.
            guard update.completed >= completedUnitCount else { return }
            if let total = update.total { totalUnitCount = total }
            completedUnitCount = update.completed
            setUserInfoObject(update.throughput.map { Int(min($0, 9e18)) }, forKey: .throughputKey)
            setUserInfoObject(update.timeLeft.map(\.inSeconds), forKey: .estimatedTimeRemainingKey)
        }
        updates.send(update, number: news.number)
    }
}

/// How far an operation has come, and how fast it is.
///
/// A request counts bytes. A batch, a group and a chain count their members, and have no speed.
public struct ProgressUpdate: Sendable, Hashable {
    /// The bytes of both bodies, or the number of members that are done. Bytes that were there before count too. For an
    /// upload, only the request's body counts.
    ///
    /// The number never decreases. If a later attempt starts again with a shorter body, the number exceeds that body's
    /// length.
    public var completed: Int64

    /// The length of both bodies in bytes, or the number of members; `nil` while it is unknown.
    public var total: Int64?

    /// Bytes for each second, over the last 5 seconds of the running attempt; `nil` until that is known.
    public var throughput: Double?

    /// The done parts of the members that run, in members. They are in ``fraction`` and not in ``completed``.
    var running = 0.0

    /// Makes a value. By default nothing is known.
    public init(completed: Int64 = 0, total: Int64? = nil, throughput: Double? = nil) {
        self.completed = completed
        self.total = total
        self.throughput = throughput
    }

    /// The part that is done, from 0 to 1; `nil` while the total is unknown. Members that run count in part.
    public var fraction: Double? {
        total.map { $0 > 0 ? min((Double(completed) + running) / Double($0), 1) : 1 }
    }

    /// The time until the end at the present speed; `nil` while the total or the speed is unknown. It is at most a year.
    public var timeLeft: Duration? {
        guard let total, let throughput else { return nil }
        guard completed < total else { return .zero }
        let year = 365.0 * 24 * 3600
        return .seconds(throughput > 0 ? min(Double(total - completed) / throughput, year) : year)
    }
}

/// The progress of one operation over all its attempts. A pure value.
struct ProgressState: Sendable {
    /// The update that listeners get.
    private(set) var update = ProgressUpdate()
    /// The number of the update, from 1.
    private(set) var number = 0
    private var meter = ThroughputMeter()

    /// A new attempt begins. Its reports count once it is further than the earlier ones.
    mutating func beginAttempt() {
        meter.restart()
    }

    /// Takes in how far the transfer of an attempt has come. Returns `false` if that changes nothing.
    mutating func report(_ transfer: TransferProgress, at moment: Duration) -> Bool {
        let completed = transfer.bytesSent.adding(transfer.bytesReceived)
        meter.note(completed, at: moment)
        let furthest = max(completed, update.completed)
        let total = transfer.total.map { max($0, furthest) } ?? update.total
        guard furthest > update.completed || total != update.total || total == nil else { return false }
        update.total = total
        update.completed = furthest
        update.throughput = meter.bytesPerSecond
        number += 1
        return true
    }

    /// The operation has succeeded: everything is there. An operation without a body counts as one unit. Returns `false` if
    /// that changes nothing.
    mutating func finish() -> Bool {
        let whole = max(update.completed, 1)
        guard update.completed != whole || update.total != whole else { return false }
        (update.completed, update.total) = (whole, whole)
        number += 1
        return true
    }
}

extension TransferProgress {
    /// The bytes of both bodies together. `nil` while one of the lengths is unknown.
    fileprivate var total: Int64? {
        guard let bytesToReceive else { return nil }
        // A body that was sent without a length has its whole length when the response arrives.
        // A server may announce any length.
        return (bytesToSend ?? bytesSent).adding(bytesToReceive)
    }
}

/// Measures how many bytes an attempt moves in a second, over its last seconds. A pure value.
///
/// The bytes that are there at the first report of an attempt do not count: they may come from an earlier one.
struct ThroughputMeter: Sendable {
    private struct Sample {
        let moment: Duration
        let bytes: Int64
    }

    /// Oldest first. The last one is the newest report. The others have some time between them.
    private var samples: [Sample] = []

    private static let window = Duration.seconds(5)
    private static let spacing = Duration.milliseconds(200)
    /// A shorter time says nothing about a speed.
    private static let shortest = Duration.milliseconds(10)

    /// A new attempt begins.
    mutating func restart() {
        samples = []
    }

    /// Takes in how many bytes the attempt has moved at a moment.
    mutating func note(_ bytes: Int64, at moment: Duration) {
        // A redirect may send a body from its first byte again.
        if let last = samples.last, bytes < last.bytes || moment < last.moment { samples = [] }
        let sample = Sample(moment: moment, bytes: bytes)
        if samples.count > 1, moment - samples[samples.count - 2].moment < Self.spacing {
            samples[samples.count - 1] = sample
        } else {
            samples.append(sample)
        }
        while samples.count > 2, samples[1].moment <= moment - Self.window { samples.removeFirst() }
    }

    /// Bytes for each second; `nil` until there are two reports with some time between them.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.moment - first.moment >= Self.shortest else {
            return nil
        }
        return Double(last.bytes - first.bytes) / (last.moment - first.moment).inSeconds
    }
}
