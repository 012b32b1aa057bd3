import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ProgressStateTests {
    private final class Member {}
    private let members = [Member(), Member()]
    private var ids: [ObjectIdentifier] { members.map { ObjectIdentifier($0) } }

    @Test func `A part counts in the fraction and not in the members that have ended`() {
        var state = ProgressState(ofMembers: 4)
        state.end(ids[0])
        state.report(0.5, of: ids[1])
        #expect(state.update.completed == 1 && state.update.fraction == 0.375)
    }

    @Test func `A part never goes back`() {
        var state = ProgressState(ofMembers: 1)
        state.report(0.5, of: ids[0])
        let number = state.number
        state.report(0.25, of: ids[0])
        #expect(state.update.fraction == 0.5 && state.number == number)
    }

    @Test func `A member that has ended counts once`() {
        var state = ProgressState(ofMembers: 3)
        state.report(0.5, of: ids[0])
        state.end(ids[0])
        #expect(state.update == ProgressUpdate(completed: 1, total: 3))
    }

    @Test func `An unknown total has no fraction until the end`() {
        var state = ProgressState(ofMembers: nil)
        state.end(ids[0])
        #expect(state.update.fraction == nil)
        state.end()
        #expect(state.update.fraction == 1)
    }
}
