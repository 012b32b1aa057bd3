#if canImport(Darwin)
    import Darwin

    private typealias LockPrimitive = os_unfair_lock
#elseif canImport(Glibc)
    import Glibc

    private typealias LockPrimitive = pthread_mutex_t
#elseif canImport(Musl)
    import Musl

    private typealias LockPrimitive = pthread_mutex_t
#endif

/// A value that is reached only under its lock: the one lock that an object of this package has.
///
/// The value and the lock share one allocation, the lock first: who takes it mostly reads the beginning of the value next.
/// `withLock` must stay short: no user code, no I/O, no second lock in it.
/// (`Synchronization.Mutex` would do, but needs macOS 15 and iOS 18.)
// Unchecked: the value is touched in `withLock` only, whatever its own type says.
package struct Locked<Value>: @unchecked Sendable {
    private final class Storage: ManagedBuffer<LockPrimitive, Value> {
        deinit {
            withUnsafeMutablePointers { lock, value -> Void in
                value.deinitialize(count: 1)
                #if !canImport(Darwin)
                    pthread_mutex_destroy(lock)
                #endif
            }
        }
    }

    private let storage: ManagedBuffer<LockPrimitive, Value>

    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in LockPrimitive() }
        storage.withUnsafeMutablePointers { lock, place in
            #if !canImport(Darwin)
                pthread_mutex_init(lock, nil)
            #endif
            place.initialize(to: value)
        }
    }

    /// What tells apart two that are there at the same time.
    package var identity: ObjectIdentifier { ObjectIdentifier(storage) }

    @inline(__always)
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        try storage.withUnsafeMutablePointers { lock, value in
            #if canImport(Darwin)
                os_unfair_lock_lock(lock)
                defer { os_unfair_lock_unlock(lock) }
            #else
                pthread_mutex_lock(lock)
                defer { pthread_mutex_unlock(lock) }
            #endif
            return try body(&value.pointee)
        }
    }
}

extension Locked: CustomReflectable {
    /// Shows nothing. A mirror would read the value without the lock, and the value may hold secrets.
    package var customMirror: Mirror { Mirror(opaque: self) }
}
