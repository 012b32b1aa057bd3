/// The `Progress` of one operation, in bytes of the request's and the response's body.
///
/// It never goes back. A later attempt counts once it has come further than the ones before.
// Unchecked like its superclass. This class only adds a lock, because Foundation's has none on Linux.
final class OperationProgress: Progress, @unchecked Sendable {
    private let lock = ProgressLock()

    /// Makes the progress of an operation. Its total is unknown until an attempt reports it.
    ///
    /// - Parameter cancel: Cancels the operation, when the progress is cancelled.
    init(cancel: @escaping @Sendable () -> Void) {
        super.init(parent: nil, userInfo: nil)
        super.totalUnitCount = -1
        isPausable = false
        cancellationHandler = cancel
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    /// Takes in how far the transfer of an attempt has come.
    func report(_ transfer: TransferProgress) {
        lock.withLock {
            let completed = transfer.bytesSent + transfer.bytesReceived
            guard completed > super.completedUnitCount || super.totalUnitCount < 0 else { return }
            let furthest = max(completed, super.completedUnitCount)
            if let total = transfer.total { super.totalUnitCount = max(total, furthest) }
            super.completedUnitCount = furthest
        }
    }

    /// The operation has succeeded: everything is there. An operation without a body counts as one unit.
    func finish() {
        lock.withLock {
            let all = max(super.completedUnitCount, 1)
            super.totalUnitCount = all
            super.completedUnitCount = all
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
