/// The progress of a queue, which counts operations once somebody has set a total. Any thread may add to it.
// Unchecked like its superclass. `counting` makes one step of reading and writing the count.
final class QueueProgress: LockedProgress, @unchecked Sendable {
    // Recursive, because an observer of the count may end another operation.
    private let counting = NSRecursiveLock()

    /// Counts a finished operation, unless the total is zero.
    func countOne() {
        counting.withLock {
            if totalUnitCount != 0 { completedUnitCount += 1 }
        }
    }
}
