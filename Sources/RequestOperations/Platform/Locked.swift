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

/// A value that can be reached only under its lock. An object of this package has only one such lock.
///
/// The value and the lock share one allocation, with the lock first. A thread that takes the lock usually reads the
/// beginning of the value next. `withLock` must stay short, without user code, I/O or a second lock in it.
/// (`Synchronization.Mutex` would do, but needs macOS 15 and iOS 18.)
// Unchecked, because the value is only accessed in `withLock`. This holds for any type of value.
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

    /// Identifies this object among all that exist at the same time.
    package var identity: ObjectIdentifier { ObjectIdentifier(storage) }

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

// A mirror would read the value without the lock, and the value may hold secrets.
extension Locked: OpaqueReflectable {}

/// A value on the heap, for a large value inside small ones. A Task copies and reallocates what it keeps at each
/// suspension, so its values should be small. Like any value, a box is copied when it is changed, unless it is the only
/// one with that storage.
// Unchecked, because shared storage never changes.
struct Box<Value: Sendable>: @unchecked Sendable {
    private final class Storage {
        // Several threads may read this, but only `edit` changes it, when the storage is not shared.
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    init(_ value: Value) {
        storage = Storage(value)
    }

    /// Without a copy of it.
    var value: Value { _read { yield storage.value } }

    mutating func edit(_ change: (inout Value) -> Void) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
        change(&storage.value)
    }
}

// The value may be secret. The owner of a box decides itself what it shows.
extension Box: OpaqueReflectable {}

/// A type whose mirror has no children, because its description shows all that may be shown.
///
/// `dump` then shows only that description. Subclasses inherit the mirror, so their properties are not shown either.
package protocol OpaqueReflectable: CustomReflectable {}

extension OpaqueReflectable {
    /// No children, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: [:], ancestorRepresentation: .suppressed) }
}
