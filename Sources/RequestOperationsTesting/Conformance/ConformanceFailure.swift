/// Why a transport does not meet an expectation, or a store does not keep a promise. One sentence says what was found and what was expected.
public struct ConformanceFailure: Error, Hashable, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Makes a failure.
    public init(_ description: String) {
        self.description = description
    }
}

/// Throws the sentence if the condition does not hold.
func expect(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw ConformanceFailure(sentence()) }
}

/// Throws a sentence about `subject`, such as "The status", if the two differ.
func expect<Value: Equatable>(_ subject: String, _ found: Value, is expected: Value) throws {
    guard found != expected else { return }
    throw ConformanceFailure("\(subject) is \(found), not \(expected).")
}

/// Returns the value, or throws a sentence if it is `nil`.
func unwrap<Value>(_ value: Value?, _ sentence: @autoclosure () -> String) throws -> Value {
    guard let value else { throw ConformanceFailure(sentence()) }
    return value
}
