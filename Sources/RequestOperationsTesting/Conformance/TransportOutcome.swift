/// The outcome of checking one expectation of a transport.
public struct TransportOutcome: Sendable, CustomStringConvertible {
    /// The expectation that was checked.
    public let expectation: TransportExpectation

    /// Why the transport does not meet the expectation, as a sentence; `nil` if it does.
    public let miss: String?

    /// One line: the claim and the outcome.
    public var description: String {
        guard let miss else { return "met: \(expectation.name)" }
        return "missed: “\(expectation.name)” (\(expectation.capability)): \(miss)"
    }
}
