/// The progress of a `RequestQueue`, to which any thread may add.
// Unchecked as its superclass is: what this class adds is a lock, since on Linux Foundation's has none.
final class QueueProgress: Progress, @unchecked Sendable {
    // Recursive: on Apple's platforms observers are called within, and may read what they observe.
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

    /// Counts an operation that finished, if somebody said how many there are.
    func countOne() {
        lock.withLock {
            if super.totalUnitCount > 0 { super.completedUnitCount += 1 }
        }
    }
}
