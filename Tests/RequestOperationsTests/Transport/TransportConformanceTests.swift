import RequestOperationsTesting
import Testing

@Suite struct TransportConformanceTests {
    @Test(arguments: TransportUnderTest.all, TransportConformance.expectations)
    func everyTransportMeetsWhatItDoesNotDeclareAsLackingAndNothingElse(
        _ transport: TransportUnderTest, _ expectation: TransportExpectation
    ) async {
        let outcome = await TransportConformance.check(expectation, lacking: transport.lacking, of: transport.make)
        #expect(outcome.fault == nil)
    }
}
