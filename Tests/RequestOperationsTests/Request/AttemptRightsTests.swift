import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct AttemptRightsTests: RequestStateFixture {
    let clock = ManualClock()
    private let limiter = RequestLimiter(total: 4)
    private let breaker = KnownBreaker(minimumThroughput: 1, clock: ManualClock())

    private func slot() throws -> RequestLimiter.Slot {
        try #require(limiter.slotAtOnce(for: Origin(anyRequest.url)))
    }

    private func permit() throws -> CircuitPermit { try breaker.admit(anyRequest.url) }

    @Test func `Everything is given back`() throws {
        var rights = AttemptRights(place: try slot())
        rights.slot = try slot()
        rights.permit = try permit()
        #expect(limiter.inFlightCount == 2)
        rights.release(.failed)
        #expect(limiter.inFlightCount == 0)
        #expect(breaker.state(of: try #require(anyRequest.url)) == .open)
    }

    @Test func `The queue no longer lends a place that was given back`() throws {
        let slot = try slot()
        let turn = QueuePlace(of: limiter, at: limiter.newPlace(), holding: slot)
        #expect(turn.isHeld)
        AttemptRights(place: slot, of: turn).release(.succeeded)
        #expect(!turn.isHeld && turn.slot == nil)
    }

    @Test func `Only the first outcome counts`() throws {
        var state = inAttempt()
        let permit = try permit()
        state.changeRights(of: 1) { $0.permit = permit }
        state.takeRights(of: 1)?.release(.succeeded)
        state.takeRights(of: 1)?.release(.failed)
        #expect(breaker.state(of: try #require(anyRequest.url)) == .closed)
    }

    @Test func `A part is taken out alone`() throws {
        var state = inAttempt()
        let slots = [try slot(), try slot()]
        state.changeRights(of: 1) { ($0.place, $0.slot) = (slots[0], slots[1]) }
        let place = state.changeRights(of: 1) { $0.place.take() }
        #expect((place ?? nil) === slots[0])
        #expect(state.queuePlace(of: 1) == nil)
        #expect(state.takeRights(of: 1)?.slot === slots[1])
    }

    @Test func `An attempt that has given everything back holds nothing new`() throws {
        var state = inAttempt()
        _ = state.takeRights(of: 1)
        let slot = try slot()
        let isHeld = state.changeRights(of: 1) { rights in
            rights.slot = slot
            return true
        }
        #expect(isHeld == nil)
        #expect(state.takeRights(of: 1) == nil)
    }

    @Test func `A permit is taken for another host only`() throws {
        var rights = AttemptRights()
        rights.permit = try permit()
        #expect(rights.takePermit(unlessFor: Origin(anyRequest.url)) == nil && rights.permit != nil)
        let other = Origin(URL(string: "http://other.invalid/"))
        #expect(rights.takePermit(unlessFor: other) != nil && rights.permit == nil)
    }
}
