import RequestOperationsTesting
import Testing

/// The conformance suite over every transport.
@Suite(.timeLimit(.minutes(10))) struct TransportConformanceTests {
    @Test(arguments: TransportClaim.all)
    func `A transport meets what it does not declare as lacking`(_ claim: TransportClaim) async {
        var miss = await claim.miss()
        // Of one in some ten thousand no head is heard; twice in a row is another fault.
        if claim.transport.mayForgetTransfers, let first = miss, first.contains("phase head: timedOut in transfer") {
            print("\(claim.testDescription), checked once more: \(first)")
            miss = await claim.miss()
        }
        #expect(miss == nil)
    }

    @Test(arguments: DeclaredLack.all.filter { !$0.isFatal && !$0.isUnreliable })
    func `A transport lacks what it declares as lacking`(_ lack: DeclaredLack) async {
        #expect(await lack.faults() == [])
    }

    @Test(arguments: DeclaredLack.all.filter(\.isFatal))
    func `A lack that is declared as fatal ends the process`(_ lack: DeclaredLack) async {
        await #expect(processExitsWith: .failure) { [description = lack.testDescription as String] in
            let lack = try #require(DeclaredLack.all.first { $0.testDescription == description })
            _ = await lack.faults()
        }
    }

    @Test func `Every declared lack is one that some expectation shows`() {
        let known = Set(TransportConformance.expectations.map(\.capability))
        #expect(DeclaredLack.all.filter { !known.contains($0.capability) }.map(\.testDescription) == [])
    }
}

/// That a transport meets an expectation.
struct TransportClaim: Sendable, CustomTestStringConvertible {
    let transport: TransportUnderTest
    let expectation: TransportExpectation

    var testDescription: String { "\(transport.name): \(expectation.name)" }

    /// Why the expectation is missed; `nil` if it is met.
    func miss() async -> String? {
        // Four hundred of them are checked at a time, beside the rest of the suite: one takes longer than it would alone.
        await TransportConformance.check(expectation, timeLimit: .seconds(150), of: transport.make).miss
    }

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

    var isFatal: Bool { transport.fatal.contains(capability) }
    var isUnreliable: Bool { transport.unreliable.contains(capability) }

    var testDescription: String { "\(transport.name): \(capability)" }

    static let all = TransportUnderTest.all.flatMap { transport in
        transport.lacking.map { DeclaredLack(transport: transport, capability: $0.key, reason: $0.value) }
            .sorted { $0.capability.description < $1.capability.description }
    }

    /// What the suite has against the declaration. Whatever takes longer than five seconds is missed.
    func faults() async -> [String] {
        let expectations = TransportConformance.expectations.filter { $0.capability == capability }
        let report = await TransportConformance.run(
            expectations, lacking: [capability: reason], timeLimit: .seconds(5), of: transport.make)
        return report.faults
    }
}
