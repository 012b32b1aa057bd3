/// The progress of a queue, a batch, a group or a chain, which counts operations. Any thread may add to it.
// Unchecked like its superclass, which has the lock.
final class CountingProgress: LockedProgress, @unchecked Sendable {
    /// Makes a progress.
    ///
    /// - Parameter total: The number of operations. Zero, the default, counts none. A negative total is unknown.
    init(total: Int64 = 0) {
        super.init()
        totalUnitCount = total
    }

    /// Changes the number of operations.
    func expect(_ count: Int64) {
        lock.withLock { totalUnitCount += count }
    }

    /// Counts a finished operation, unless the total is zero.
    func countOne() {
        lock.withLock {
            if totalUnitCount != 0 { completedUnitCount += 1 }
        }
    }

    /// Nothing is left to be counted.
    func complete() {
        lock.withLock { completedUnitCount = totalUnitCount }
    }

    /// Nothing more is counted. A total that was unknown or too low becomes right.
    func end() {
        lock.withLock {
            if totalUnitCount < completedUnitCount { totalUnitCount = completedUnitCount }
        }
    }
}
