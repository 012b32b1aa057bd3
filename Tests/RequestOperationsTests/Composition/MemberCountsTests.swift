import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct MemberCountsTests {
    @Test func `A part counts in the fraction and not in the members that have ended`() {
        var counts = MemberCounts(total: 4)
        counts.end(1, as: 1)
        counts.report(0.5, of: 2, as: 1)
        #expect(counts.update.completed == 1 && counts.update.fraction == 0.375)
    }

    @Test func `A part never goes back`() {
        var counts = MemberCounts(total: 1)
        counts.report(0.5, of: 1, as: 1)
        let number = counts.number
        counts.report(0.25, of: 1, as: 1)
        #expect(counts.update.fraction == 0.5 && counts.number == number)
    }

    @Test func `A member that has ended counts once`() {
        var counts = MemberCounts(total: 3)
        counts.report(0.5, of: 1, as: 2)
        counts.end(1, as: 2)
        #expect(counts.update == ProgressUpdate(completed: 2, total: 3))
    }

    @Test func `An unknown total has no fraction until the end`() {
        var counts = MemberCounts(total: nil)
        counts.end(1, as: 1)
        #expect(counts.update.fraction == nil)
        counts.end()
        #expect(counts.update.fraction == 1)
    }
}
