import RequestOperationsTesting
import Testing

/// A transport that the conformance suite is run over, and what it declares not to be able to do.
struct TransportUnderTest: Sendable, CustomTestStringConvertible {
    /// As it stands at the head of a column of the published matrix.
    let name: String

    /// Each capability that it lacks, with the reason.
    let lacking: [TransportCapability: String]

    /// Those of the lacks that end the process, which is why they are shown in a process of their own.
    var fatal: Set<TransportCapability> = []

    /// Those of the lacks that depend on the moment: what is met now and then cannot be relied on, and is not checked.
    var unreliable: Set<TransportCapability> = []

    /// Makes the transport for the server of one check.
    let make: @Sendable (LoopbackServer) -> any Transport

    var testDescription: String { name }

    static let all = curl + [session, scripted]
}
