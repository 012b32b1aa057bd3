/// One claim about every transport, and the code that tests it on a real connection.
///
/// ```swift
/// let expectation = TransportExpectation("A teapot is a response", .init("teapots", in: "Heads")) { trial in
///     trial.server.route("/", .status(418))
///     let response = try await trial.transport.perform(.data(URLRequest(url: trial.server.url))) { _ in }
///     guard response.head.status == 418 else { throw ConformanceFailure("The teapot came as \(response.head).") }
/// }
/// ```
public struct TransportExpectation: Sendable, CustomStringConvertible {
    /// The claim, as a sentence.
    public let name: String

    /// The capability that a transport lacks if it does not meet the claim.
    public let capability: TransportCapability

    /// Whether no other expectation of the suite is checked at the same time. Needed if this one measures the process.
    public let isCheckedAlone: Bool

    /// Tests the claim. If it does not hold, throws a ``ConformanceFailure`` or the error that the transport threw.
    public let check: @Sendable (TransportTrial) async throws -> Void

    /// Makes an expectation.
    ///
    /// - Parameters:
    ///   - name: The claim, as a sentence.
    ///   - capability: The capability that a transport lacks if it does not meet the claim.
    ///   - isCheckedAlone: Whether no other expectation is checked at the same time in this process. False by default.
    ///   - check: Tests the claim within a few seconds. It throws if the claim does not hold. Its Task is cancelled
    ///     when the time limit of the trial is over.
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
