/// A count, or a number of an attempt, in half the room: many operations wait, and each has several. Beyond 2³¹ it stays
/// where it is.
@propertyWrapper
struct Compact: Sendable {
    private var stored: Int32

    init(wrappedValue: Int) {
        stored = Int32(clamping: wrappedValue)
    }

    var wrappedValue: Int {
        get { Int(stored) }
        set { stored = Int32(clamping: newValue) }
    }
}
