/// A value on the heap, for a large one that travels in small ones: what a Task keeps across its suspensions is copied and
/// allocated anew at every one. Like any value it is copied when it is changed, unless nobody else has it.
// Unchecked: what several have never changes.
struct Box<Value: Sendable>: @unchecked Sendable {
    private final class Storage {
        // Read by several at a time, and changed by one alone, as `edit` sees to: unchecked, since a check costs more than the
        // reading.
        @exclusivity(unchecked) var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    private var storage: Storage

    init(_ value: Value) {
        storage = Storage(value)
    }

    var value: Value { storage.value }

    mutating func edit(_ change: (inout Value) -> Void) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
        change(&storage.value)
    }
}

extension Box: CustomReflectable {
    /// Shows nothing. What has a box has values that may be secret, and says itself what it shows of them.
    var customMirror: Mirror { Mirror(opaque: self) }
}
