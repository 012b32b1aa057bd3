import RequestOperationsTesting
import Testing

/// A transport that the conformance suite is run over, and what it declares not to be able to do.
struct TransportUnderTest: Sendable, CustomTestStringConvertible {
    /// As it stands at the head of a column of the published matrix.
    let name: String

    /// Each capability that it lacks, with the reason, as it is published.
    let published: [TransportCapability: String]

    /// Those that it lacks on this machine: what the libcurl that runs lacks is not published.
    let lacking: [TransportCapability: String]

    /// Those of the lacks that end the process, which is why they are shown in a process of their own.
    let fatal: Set<TransportCapability>

    /// Those of the lacks that depend on the moment: what is met now and then cannot be relied on, and is not checked.
    let unreliable: Set<TransportCapability>

    /// Whether nothing may be heard of a transfer now and then, until its idle limit ends it.
    let mayForgetTransfers: Bool

    /// Makes the transport for the server of one check.
    let make: @Sendable (LoopbackServer) -> any Transport

    init(
        name: String, lacking: [TransportCapability: String], ofLibrary: [TransportCapability: String] = [:],
        fatal: Set<TransportCapability> = [], unreliable: Set<TransportCapability> = [],
        mayForgetTransfers: Bool = false, make: @escaping @Sendable (LoopbackServer) -> any Transport
    ) {
        self.name = name
        published = lacking
        self.lacking = lacking.merging(ofLibrary) { reason, _ in reason }
        self.fatal = fatal
        self.unreliable = unreliable
        self.mayForgetTransfers = mayForgetTransfers
        self.make = make
    }

    var testDescription: String { name }

    static let all = curl + [session, scripted]
}
