/// One claim about every transport, and the code that finds out on a real connection whether it holds.
///
/// ```swift
/// let expectation = TransportExpectation("A teapot is a response", .init("teapots", in: "Heads")) { trial in
///     trial.server.route("/", .status(418))
///     let response = try await trial.transport.perform(.data(URLRequest(url: trial.server.url))) { _ in }
///     guard response.head.status == 418 else { throw ConformanceFailure("The teapot came as \(response.head).") }
/// }
/// ```
public struct TransportExpectation: Sendable, CustomStringConvertible {
    /// The claim, a sentence.
    public let name: String

    /// What a transport that does not meet the claim lacks.
    public let capability: TransportCapability

    /// Whether no other expectation of the suite is checked at the same time, since this one measures the process.
    public let isCheckedAlone: Bool

    /// Finds out; throws a ``ConformanceFailure`` or whatever the transport threw if the claim does not hold.
    public let check: @Sendable (TransportTrial) async throws -> Void

    /// Makes an expectation.
    ///
    /// - Parameters:
    ///   - name: The claim, a sentence.
    ///   - capability: What a transport that does not meet it lacks.
    ///   - isCheckedAlone: Whether no other expectation is checked at the same time, in this process. False by default.
    ///   - check: Finds out, within a few seconds. Throws if the claim does not hold. Its Task is cancelled when the time
    ///     limit of the trial has passed.
    public init(
        _ name: String, _ capability: TransportCapability, isCheckedAlone: Bool = false,
        check: @escaping @Sendable (TransportTrial) async throws -> Void
    ) {
        self.name = name
        self.capability = capability
        self.isCheckedAlone = isCheckedAlone
        self.check = check
    }

    /// The claim.
    public var description: String { name }
}
