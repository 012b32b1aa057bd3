/// A `Progress` that any thread may change, because Foundation's has no lock on Linux.
///
/// `fractionCompleted` is not open, so it has no lock. A reader may see one of two counts before the other.
// Unchecked like its superclass. This class only adds the lock.
class LockedProgress: Progress, @unchecked Sendable {
    final let lock: ProgressLock

    /// Makes a progress.
    ///
    /// - Parameter lock: Guards it. A child and its parent need the same lock, because a child changes its parent.
    init(guardedBy lock: ProgressLock = ProgressLock()) {
        self.lock = lock
        super.init(parent: nil, userInfo: nil)
    }

    final override var totalUnitCount: Int64 {
        get { lock.withLock { super.totalUnitCount } }
        set { lock.withLock { super.totalUnitCount = newValue } }
    }

    final override var completedUnitCount: Int64 {
        get { lock.withLock { super.completedUnitCount } }
        set { lock.withLock { super.completedUnitCount = newValue } }
    }

    final override func addChild(_ child: Progress, withPendingUnitCount unitCount: Int64) {
        lock.withLock { super.addChild(child, withPendingUnitCount: unitCount) }
    }

    final override var userInfo: [ProgressUserInfoKey: Any] { lock.withLock { super.userInfo } }

    final override func setUserInfoObject(_ object: Any?, forKey key: ProgressUserInfoKey) {
        lock.withLock { super.setUserInfoObject(object, forKey: key) }
    }
}

/// Guards a `Progress`, because Foundation's class has no lock on Linux.
///
/// On Apple's platforms Foundation has one, and this type does nothing. Observers run there while a count changes, and must
/// not run under a lock of ours.
struct ProgressLock: Sendable {
    #if canImport(FoundationNetworking)
        // Recursive, because `Progress` may set one of its properties while another one changes.
        private let lock = NSRecursiveLock()

        func withLock<Result>(_ body: () -> Result) -> Result { lock.withLock(body) }
    #else
        func withLock<Result>(_ body: () -> Result) -> Result { body() }
    #endif
}
