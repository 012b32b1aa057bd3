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
