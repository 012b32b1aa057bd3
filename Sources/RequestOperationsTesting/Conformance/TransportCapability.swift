/// Something that a transport can do, or has a reason not to do. Each expectation of the suite belongs to one.
///
/// The set is open: you can make capabilities for your own expectations. The built-in ones are in
/// ``TransportConformance/expectations``.
public struct TransportCapability: Hashable, Sendable, CustomStringConvertible {
    /// The subject under which the published matrix lists it, such as `Uploads`.
    public let subject: String

    /// A description in a few words, which make a line of the matrix.
    public let description: String

    /// Makes a capability.
    ///
    /// - Parameters:
    ///   - description: A description in a few words.
    ///   - subject: The subject that it belongs to.
    public init(_ description: String, in subject: String) {
        self.subject = subject
        self.description = description
    }
}
