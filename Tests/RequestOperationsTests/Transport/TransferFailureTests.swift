import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransferFailureTests {
    @Test(arguments: [
        (TransferFailure.Phase.connect, false), (.request, true), (.head, true), (.body, true),
    ])
    func `A request may have been processed from the moment when it was sent`(
        _ phase: TransferFailure.Phase, _ mayHaveBeenProcessed: Bool
    ) {
        #expect(TransferFailure(Problem(), phase: phase).requestMayHaveBeenProcessed == mayHaveBeenProcessed)
    }

    @Test(arguments: [false, true])
    func `A transport may know better`(mayHaveBeenProcessed: Bool) {
        for phase in [TransferFailure.Phase.connect, .head] {
            let failure = TransferFailure(Problem(), phase: phase, requestMayHaveBeenProcessed: mayHaveBeenProcessed)
            #expect(failure.requestMayHaveBeenProcessed == mayHaveBeenProcessed)
        }
    }

    @Test func `Timings can be given and taken`() {
        var timings = TransferTimings()
        timings.total = .seconds(1)
        var failure = TransferFailure(Problem(), phase: .head, timings: timings)
        #expect(failure.timings == timings)
        failure.timings = nil
        #expect(failure.timings == nil)
    }
}
