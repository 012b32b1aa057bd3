/// A count, or a number of an attempt, in half the room: many operations wait, and each has several.
@propertyWrapper
struct Compact: Sendable {
    private var stored: Int32

    init(wrappedValue: Int) {
        stored = Int32(wrappedValue)
    }

    var wrappedValue: Int {
        get { Int(stored) }
        set { stored = Int32(newValue) }
    }
}
