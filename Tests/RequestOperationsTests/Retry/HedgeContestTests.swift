import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct HedgeContestTests {
    private static func failed(_ id: Int, _ weight: HedgeContest.Weight = .noResponse) -> HedgeContest.Failed {
        HedgeContest.Failed(id: id, error: Problem(), weight: weight)
    }

    /// A contest of a first attempt and one hedge.
    private static func ofTwo() -> HedgeContest {
        var contest = HedgeContest()
        _ = contest.join(1)
        return contest
    }

    private static func name(_ verdict: HedgeContest.Verdict?) -> String {
        switch verdict {
        case .goesOn: "goes on"
        case .answers: "answers"
        case .fails(let failed): "fails with \(failed.id)"
        case .cancelled: "cancelled"
        case nil: "none"
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
        (HedgeContest.Weight.noResponse, HedgeContest.Weight.noResponse, 0),
        (.response, .noResponse, 0), (.noResponse, .response, 1), (.response, .response, 0),
        (.response, .retryAfter, 1), (.retryAfter, .response, 0), (.retryAfter, .retryAfter, 0),
    ])
    func `Of all failures the most telling decides`(
        first: HedgeContest.Weight, second: HedgeContest.Weight, decisive: Int
    ) {
        for order in [[0, 1], [1, 0]] {
            var contest = Self.ofTwo()
            let weights = [first, second]
            _ = contest.fail(Self.failed(order[0], weights[order[0]]), isFinal: false)
            let verdict = contest.fail(Self.failed(order[1], weights[order[1]]), isFinal: false)
            #expect(Self.name(verdict) == "fails with \(decisive)")
        }
    }

    @Test func `Nobody joins after a failure`() {
        var contest = Self.ofTwo()
        _ = contest.fail(Self.failed(0), isFinal: false)
        let joins = contest.join(2)
        #expect(!joins && !contest.isOpen)
    }

    @Test func `Nobody joins after a win`() {
        var contest = HedgeContest()
        _ = contest.win(0)
        let joins = contest.join(1)
        #expect(!joins)
    }

    @Test func `The failure of the only attempt decides as it is`() {
        var contest = HedgeContest()
        #expect(Self.name(contest.failAlone(0, Problem())) == "fails with 0")
    }

    @Test func `The failure of one of two is not that of the only one`() {
        var contest = Self.ofTwo()
        #expect(Self.name(contest.failAlone(0, Problem())) == "none")
    }

    @Test func `If the hedge is not sent after all the failure of the first decides`() {
        var contest = Self.ofTwo()
        _ = contest.fail(Self.failed(0), isFinal: false)
        #expect(Self.name(contest.end(1)) == "fails with 0")
    }

    @Test func `A cancelled contest ends with its last attempt`() {
        var contest = Self.ofTwo()
        #expect(Self.name(contest.cancel()) == "goes on")
        #expect(Self.name(contest.fail(Self.failed(1), isFinal: false)) == "goes on")
        #expect(Self.name(contest.end(0)) == "cancelled")
    }

    @Test func `Nobody wins a cancelled contest`() {
        var contest = Self.ofTwo()
        _ = contest.cancel()
        let hasWon = contest.win(0)
        #expect(!hasWon)
    }
}
