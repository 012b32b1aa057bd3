/// Holds what a transport of this package knows about a cancelled transfer. The transport itself throws only a
/// `CancellationError`.
///
/// A time limit may have stopped the transfer. Then the operation must know whether anything was sent.
final class TransferTrace: Sendable {
    /// How long the attempt has waited for connections; `nil` if nothing needs to know.
    let wait: ConnectionWait?
    private let noted = Locked<TransferFailure?>(nil)

    init(wait: ConnectionWait? = nil) {
        self.wait = wait
    }

    /// The failure that was noted. Its error is a `CancellationError`.
    var failure: TransferFailure? { noted.withLock { $0 } }

    func note(_ failure: TransferFailure) {
        noted.withLock { $0 = failure }
    }
}
