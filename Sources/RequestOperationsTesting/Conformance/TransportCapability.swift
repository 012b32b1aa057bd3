/// Something that a transport can do, or has a reason not to: what an expectation of the conformance suite is filed under.
///
/// An open set: make your own for expectations of your own. The built-in ones are in ``TransportConformance/expectations``.
public struct TransportCapability: Hashable, Sendable, CustomStringConvertible {
    /// The subject that the published matrix puts it under, such as `Uploads`.
    public let subject: String

    /// What it is, in a few words that make a line of the matrix.
    public let description: String

    /// Makes a capability.
    ///
    /// - Parameters:
    ///   - description: What it is, in a few words.
    ///   - subject: What it belongs to.
    public init(_ description: String, in subject: String) {
        self.subject = subject
        self.description = description
    }
}
