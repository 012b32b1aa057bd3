/// The progress of a `RequestQueue`. Any thread may add to it.
// Unchecked like its superclass. This class only adds a lock, because Foundation's has none on Linux.
final class QueueProgress: Progress, @unchecked Sendable {
    // The lock is recursive. On Apple's platforms observers are called while it is held, and they may read what they
    // observe.
    private let lock = NSRecursiveLock()

    init() {
        super.init(parent: nil, userInfo: nil)
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    /// Counts a finished operation, if a total has been set.
    func countOne() {
        lock.withLock {
            if super.totalUnitCount > 0 { super.completedUnitCount += 1 }
        }
    }
}
