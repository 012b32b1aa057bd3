import RequestOperationsTesting
import Testing

/// The conformance suite over every transport.
@Suite struct TransportConformanceTests {
    @Test(arguments: TransportClaim.all)
    func aTransportMeetsWhatItDoesNotDeclareAsLacking(_ claim: TransportClaim) async {
        let outcome = await TransportConformance.check(claim.expectation, of: claim.transport.make)
        #expect(outcome.miss == nil)
    }

    @Test(arguments: DeclaredLack.all)
    func aTransportLacksWhatItDeclaresAsLacking(_ lack: DeclaredLack) async {
        let expectations = TransportConformance.expectations.filter { $0.capability == lack.capability }
        let report = await TransportConformance.run(
            expectations, lacking: [lack.capability: lack.reason], of: lack.transport.make)
        #expect(!expectations.isEmpty, "No expectation is filed under it.")
        #expect(report.faults == [])
    }
}

/// That a transport meets an expectation.
struct TransportClaim: Sendable, CustomTestStringConvertible {
    let transport: TransportUnderTest
    let expectation: TransportExpectation

    var testDescription: String { "\(transport.name): \(expectation.name)" }

    static let all = TransportUnderTest.all.flatMap { transport in
        TransportConformance.expectations.filter { transport.lacking[$0.capability] == nil }
            .map { TransportClaim(transport: transport, expectation: $0) }
    }
}

/// That a transport lacks a capability.
struct DeclaredLack: Sendable, CustomTestStringConvertible {
    let transport: TransportUnderTest
    let capability: TransportCapability
    let reason: String

    var testDescription: String { "\(transport.name): \(capability)" }

    static let all = TransportUnderTest.all.flatMap { transport in
        transport.lacking.map { DeclaredLack(transport: transport, capability: $0.key, reason: $0.value) }
            .sorted { $0.capability.description < $1.capability.description }
    }
}
