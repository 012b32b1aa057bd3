/// The progress of one operation over all its attempts. A pure value.
struct ProgressState: Sendable {
    /// What is told.
    private(set) var update = ProgressUpdate()
    /// The number of the update, from 1.
    private(set) var number = 0
    private var meter = ThroughputMeter()

    /// A new attempt begins. What it reports counts once it has come further than the ones before.
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
