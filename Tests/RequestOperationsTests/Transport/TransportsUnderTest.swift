import RequestOperationsTesting
import Testing

/// A transport that the conformance suite is run over, and what it declares not to be able to do.
struct TransportUnderTest: Sendable, CustomTestStringConvertible {
    /// As it stands at the head of a column of the published matrix.
    let name: String

    /// Each capability that it lacks, with the reason.
    let lacking: [TransportCapability: String]

    /// Makes the transport for the server of one check.
    let make: @Sendable (LoopbackServer) -> any Transport

    var testDescription: String { name }

    static let all = [scripted] + curl
}
