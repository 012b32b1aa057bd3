import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct ExitStatusTests {
    @Test func `All succeeded: 0`() {
        #expect(ExitStatus.of(tally(), stopped: nil) == 0)
    }

    @Test func `Some failed: 1`() {
        #expect(ExitStatus.of(tally(failed: 1), stopped: nil) == 1)
    }

    @Test func `An unusable line is 2, also when some failed`() {
        #expect(ExitStatus.of(tally(unusable: 1), stopped: nil) == 2)
        #expect(ExitStatus.of(tally(failed: 1, unusable: 1), stopped: nil) == 2)
    }

    @Test func `A signal is 128 and its number, whatever happened before`() {
        #expect(ExitStatus.of(tally(failed: 1, unusable: 1), stopped: .signal(SIGINT)) == 130)
        #expect(ExitStatus.of(tally(), stopped: .signal(SIGTERM)) == 143)
    }

    @Test func `A closed standard output is 141`() {
        #expect(ExitStatus.of(tally(failed: 1), stopped: .outputClosed) == 141)
    }

    @Test func `Results that cannot be written are a failure, and an unusable line beats that`() {
        #expect(ExitStatus.of(tally(), stopped: .outputFailed) == 1)
        #expect(ExitStatus.of(tally(unusable: 1), stopped: .outputFailed) == 2)
    }

    private func tally(failed: Int = 0, unusable: Int = 0) -> Tally {
        var tally = Tally()
        for id in 0...failed {
            tally.add(
                Outcome(
                    id: id, url: "", status: nil, bytes: 0, attempts: 1, seconds: .zero,
                    ending: id == 0 ? .succeeded : .failed(Outcome.Failure(code: "timedOut", message: "")),
                    file: nil))
        }
        tally.unusable = unusable
        return tally
    }
}
