/// The progress of a queue, a batch, a group or a chain, which counts operations. Any thread may add to it.
// Unchecked like its superclass, which has the lock. The lock also guards `changes`.
final class CountingProgress: LockedProgress, @unchecked Sendable {
    private let broadcast = Broadcast(ProgressUpdate())
    private var changes = 0

    /// Makes a progress.
    ///
    /// - Parameter total: The number of operations. Zero, the default, counts none. A negative total is unknown.
    init(total: Int64 = 0) {
        super.init()
        totalUnitCount = total
        if total != 0 { change {} }
    }

    /// The counts as they change. It ends when nothing more is counted.
    var updates: AsyncStream<ProgressUpdate> { broadcast.stream() }

    /// Changes the number of operations.
    func expect(_ count: Int64) {
        change { totalUnitCount += count }
    }

    /// Counts a finished operation, unless the total is zero.
    func countOne() {
        if totalUnitCount != 0 { change { completedUnitCount += 1 } }
    }

    /// Nothing is left to be counted.
    func complete() {
        change { completedUnitCount = totalUnitCount }
    }

    /// Nothing more is counted. A total that was unknown or too low becomes right.
    func end() {
        change {
            if totalUnitCount < completedUnitCount { totalUnitCount = completedUnitCount }
        }
        broadcast.end()
    }

    private func change(_ change: () -> Void) {
        let (update, number) = lock.withLock {
            change()
            changes += 1
            let total = totalUnitCount
            return (ProgressUpdate(completed: completedUnitCount, total: total < 0 ? nil : total), changes)
        }
        broadcast.send(update, number: number)
    }
}
