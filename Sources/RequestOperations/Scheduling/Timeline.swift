/// The time in which a request is made. What the process shares is kept apart for each, lest a test that moves its clock
/// concern the rest.
enum Timeline: Sendable {
    case real
    /// That of an injected clock.
    // Indirect, since every waiting operation has one, mostly of the real time.
    indirect case clock(any Clock<Duration>)
    /// No time at all: a failure that a test made.
    case none

    var isReal: Bool {
        if case .real = self { true } else { false }
    }

    /// Tells an injected clock from all others, if it is an object; it does so for as long as somebody holds the clock.
    var identity: ObjectIdentifier? {
        guard case .clock(let clock) = self, type(of: clock as Any) is AnyClass else { return nil }
        return ObjectIdentifier(clock as AnyObject)
    }
}
