/// The `Progress` of one operation, in bytes of the request's and the response's body.
///
/// It never goes back. A later attempt counts once it has come further than the ones before.
// Unchecked like its superclass, which has the lock.
final class OperationProgress: LockedProgress, @unchecked Sendable {
    /// Makes the progress of an operation. Its total is unknown until an attempt reports it.
    ///
    /// - Parameter cancel: Cancels the operation, when the progress is cancelled.
    init(cancel: @escaping @Sendable () -> Void) {
        super.init()
        totalUnitCount = -1
        isPausable = false
        cancellationHandler = cancel
    }

    /// Takes in how far the transfer of an attempt has come.
    func report(_ transfer: TransferProgress) {
        lock.withLock {
            let completed = transfer.bytesSent + transfer.bytesReceived
            guard completed > completedUnitCount || totalUnitCount < 0 else { return }
            let furthest = max(completed, completedUnitCount)
            if let total = transfer.total { totalUnitCount = max(total, furthest) }
            completedUnitCount = furthest
        }
    }

    /// The operation has succeeded: everything is there. An operation without a body counts as one unit.
    func finish() {
        lock.withLock {
            let all = max(completedUnitCount, 1)
            totalUnitCount = all
            completedUnitCount = all
        }
    }
}

extension TransferProgress {
    /// The bytes of both bodies together. `nil` while one of the lengths is unknown.
    fileprivate var total: Int64? {
        guard let bytesToReceive else { return nil }
        // A body that was sent without a length has its whole length when the response arrives.
        return (bytesToSend ?? bytesSent) + bytesToReceive
    }
}
