/// The progress of a queue or a batch, which counts operations. Any thread may add to it.
// Unchecked like its superclass. This class only adds a lock, because Foundation's has none on Linux.
final class CountingProgress: Progress, @unchecked Sendable {
    private let lock = ProgressLock()

    /// Makes a progress.
    ///
    /// - Parameter total: The number of operations. Zero, the default, counts none. A negative total is unknown.
    init(total: Int64 = 0) {
        super.init(parent: nil, userInfo: nil)
        super.totalUnitCount = total
    }

    override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    /// Counts a finished operation, unless the total is zero.
    func countOne() {
        lock.withLock {
            if super.totalUnitCount != 0 { super.completedUnitCount += 1 }
        }
    }

    /// Nothing more is counted. An unknown total becomes known.
    func end() {
        lock.withLock {
            if super.totalUnitCount < 0 { super.totalUnitCount = super.completedUnitCount }
        }
    }
}
