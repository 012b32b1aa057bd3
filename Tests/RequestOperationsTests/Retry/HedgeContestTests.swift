import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct HedgeContestTests {
    private static func failed(_ id: Int, _ weight: Int = 0) -> HedgeContest.Failed {
        HedgeContest.Failed(id: id, attempt: id + 1, error: Problem(), weight: weight)
    }

    /// A contest of a first attempt and one hedge.
    private static func ofTwo() -> HedgeContest {
        var contest = HedgeContest()
        contest.join()
        return contest
    }

    private static func name(_ verdict: HedgeContest.Verdict) -> String {
        switch verdict {
        case .goesOn: "goes on"
        case .answers: "answers"
        case .fails(let failed): "fails with \(failed.id)"
        }
    }

    @Test func `The first to win wins`() {
        var contest = Self.ofTwo()
        let first = contest.win(1)
        let second = contest.win(0)
        #expect(first && !second)
        #expect(contest.isWon(by: 1) && !contest.isWon(by: 0))
    }

    @Test func `Only the end of the winner answers`() {
        var contest = Self.ofTwo()
        _ = contest.win(1)
        #expect(Self.name(contest.end(0)) == "goes on")
        #expect(Self.name(contest.end(1)) == "answers")
    }

    @Test func `A failure that passes goes on while another runs`() {
        var contest = Self.ofTwo()
        #expect(Self.name(contest.fail(Self.failed(0), isFinal: false)) == "goes on")
        #expect(!contest.isDecided)
    }

    @Test func `Who failed cannot win`() {
        var contest = Self.ofTwo()
        _ = contest.fail(Self.failed(0), isFinal: false)
        let hasWon = contest.win(0)
        #expect(!hasWon)
    }

    @Test func `Who failed for good decides`() {
        var contest = Self.ofTwo()
        #expect(Self.name(contest.fail(Self.failed(0), isFinal: true)) == "fails with 0")
        let hasWon = contest.win(1)
        #expect(!hasWon)
    }

    @Test(arguments: [
        (0, 0, 0), (1, 0, 0), (0, 1, 1), (1, 1, 0), (1, 2, 1), (2, 1, 0), (2, 2, 0),
    ])
    func `Of both failures the most telling decides`(first: Int, second: Int, decisive: Int) {
        for order in [[0, 1], [1, 0]] {
            var contest = Self.ofTwo()
            let weights = [first, second]
            _ = contest.fail(Self.failed(order[0], weights[order[0]]), isFinal: false)
            let verdict = contest.fail(Self.failed(order[1], weights[order[1]]), isFinal: false)
            #expect(Self.name(verdict) == "fails with \(decisive)")
        }
    }

    @Test func `No hedge joins after a failure or a win`() {
        var failed = Self.ofTwo()
        _ = failed.fail(Self.failed(0), isFinal: false)
        var won = HedgeContest()
        _ = won.win(0)
        #expect(HedgeContest().isOpen && !failed.isOpen && !won.isOpen)
    }

    @Test(arguments: [true, false])
    func `The failure of the only attempt decides`(isFinal: Bool) {
        var contest = HedgeContest()
        #expect(Self.name(contest.fail(Self.failed(0), isFinal: isFinal)) == "fails with 0")
    }

    @Test func `A cancelled contest ends with its last attempt`() {
        var contest = Self.ofTwo()
        contest.cancel()
        #expect(Self.name(contest.fail(Self.failed(1), isFinal: false)) == "goes on")
        #expect(Self.name(contest.end(0)) == "answers")
    }

    @Test func `An attempt without a hedge fails with its own failure, unjudged`() {
        var alone = HedgeContest()
        #expect(alone.failAlone(0, RequestError(.timedOut, stage: .transfer), in: 1).map(Self.name) == "fails with 0")
        var hedged = HedgeContest()
        hedged.join()
        #expect(hedged.failAlone(0, RequestError(.timedOut, stage: .transfer), in: 1) == nil)
    }

    @Test func `Nobody wins a cancelled contest`() {
        var contest = Self.ofTwo()
        contest.cancel()
        let hasWon = contest.win(0)
        #expect(!hasWon)
    }
}
