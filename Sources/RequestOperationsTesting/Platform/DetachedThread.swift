#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Threads that no one joins, for blocking socket work that must not occupy the cooperative pool.
enum DetachedThread {
    /// The stack size of each thread, in bytes: enough for Foundation's encoders and a handler in a debug build. It is
    /// only address space. A page costs memory only when the thread touches it.
    private static let stackSize = 512 * 1024

    /// Starts a thread that runs `body` and then ends. Returns false if the system cannot start another thread.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(attributes, stackSize)

        let context = Unmanaged.passRetained(ThreadBody(run: body))
        #if canImport(Darwin)
            var thread: pthread_t?
            let status = pthread_create(&thread, attributes, { ThreadBody.run($0) }, context.toOpaque())
        #else
            var thread = pthread_t()
            // The pointer is never nil: it is `context`, passed below.
            let status = pthread_create(&thread, attributes, { ThreadBody.run($0!) }, context.toOpaque())
        #endif
        guard status == 0 else {
            context.release()
            return false
        }
        return true
    }
}

/// Carries a closure through the `void *` of `pthread_create`.
private final class ThreadBody: Sendable {
    private let run: @Sendable () -> Void

    init(run: @escaping @Sendable () -> Void) {
        self.run = run
    }

    static func run(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
