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

extension Box: CustomReflectable {
    /// Shows nothing, because the value may be secret. The owner of a box decides itself what it shows.
    var customMirror: Mirror { Mirror(opaque: self) }
}
