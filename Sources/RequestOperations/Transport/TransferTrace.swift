/// Where a transport of this package leaves what it knows of a transfer that was cancelled, beside the `CancellationError`
/// that it throws: what stopped the transfer may be a time limit, after which it counts whether anything was sent.
final class TransferTrace: Sendable {
    /// How long the attempt has waited for connections; `nil` if nobody wants to know.
    let wait: ConnectionWait?
    private let noted = Locked<TransferFailure?>(nil)

    init(wait: ConnectionWait? = nil) {
        self.wait = wait
    }

    /// What was noted; its error is a `CancellationError`.
    var failure: TransferFailure? { noted.withLock { $0 } }

    func note(_ failure: TransferFailure) {
        noted.withLock { $0 = failure }
    }
}
