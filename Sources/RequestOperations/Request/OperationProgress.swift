/// The `Progress` of one operation, in bytes of the request's and the response's body, and its updates.
///
/// It never goes back. A later attempt counts once it has come further than the ones before.
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
        if let news { tell(news) }
    }

    /// The operation has succeeded: everything is there.
    func finish() {
        let news = state.withLock { $0.finish() ? $0 : nil }
        if let news { tell(news) }
        end()
    }

    /// The operation has ended, so nothing follows.
    func end() {
        updates.end()
    }

    private func tell(_ news: ProgressState) {
        let update = news.update
        lock.withLock {
            // Two threads may come here in another order.
            guard update.completed >= completedUnitCount else { return }
            if let total = update.total { totalUnitCount = total }
            completedUnitCount = update.completed
            setUserInfoObject(update.throughput.map { Int(min($0, 9e18)) }, forKey: .throughputKey)
            setUserInfoObject(update.timeLeft.map(\.inSeconds), forKey: .estimatedTimeRemainingKey)
        }
        updates.send(update, number: news.number)
    }
}
