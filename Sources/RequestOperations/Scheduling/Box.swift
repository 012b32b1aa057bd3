/// A value on the heap, for a large one that travels in small ones: what a Task keeps across its suspensions is copied and
/// allocated anew at every one.
final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension Box {
    /// A box of the value as a change leaves it; this one stays as it is.
    func edited(_ change: (inout Value) -> Void) -> Box {
        var edited = value
        change(&edited)
        return Box(edited)
    }
}
