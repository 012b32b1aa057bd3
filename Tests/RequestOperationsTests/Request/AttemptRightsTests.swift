import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite struct AttemptRightsTests {
    private let limiter = RequestLimiter(total: 4)
    private let breaker = KnownBreaker(minimumThroughput: 1, clock: ManualClock())
    private let rights = AttemptRights()

    private func slot() throws -> RequestLimiter.Slot {
        try #require(limiter.slotAtOnce(for: Origin(anyRequest.url)))
    }

    @Test func whatIsHeldIsInFlight() throws {
        try rights.hold(place: slot())
        try rights.hold(slot: slot())
        #expect(limiter.inFlightCount == 2 && rights.slots.count == 2)
    }

    @Test func everythingIsGivenBack() throws {
        try rights.hold(place: slot(), slot: slot())
        rights.giveBack(.succeeded)
        #expect(limiter.inFlightCount == 0 && rights.slots.isEmpty)
    }

    @Test func onlyTheFirstOutcomeCounts() throws {
        rights.hold(permit: try breaker.admit(anyRequest.url))
        rights.giveBack(.succeeded)
        rights.giveBack(.failed)
        #expect(breaker.state(of: try #require(anyRequest.url)) == .closed)
    }

    @Test func thePlaceIsGivenUpAlone() throws {
        try rights.hold(place: slot())
        try rights.hold(slot: slot())
        rights.giveUpPlace()
        #expect(limiter.inFlightCount == 1 && rights.place == nil)
    }

    @Test func theSlotIsGivenUpAlone() throws {
        try rights.hold(place: slot())
        try rights.hold(slot: slot())
        rights.giveUpSlot()
        #expect(limiter.inFlightCount == 1 && rights.place != nil)
    }

    @Test func whatComesAfterTheEndIsFreeAgain() throws {
        rights.giveBackUnused()
        let late = try (0..<4).map { _ in try slot() }
        #expect(throws: CancellationError.self) { try rights.hold(slot: late[0]) }
        #expect(throws: CancellationError.self) { try rights.hold(place: late[1]) }
        #expect(throws: CancellationError.self) { try rights.hold(place: late[2], slot: late[3]) }
        #expect(limiter.inFlightCount == 0)
    }

    @Test func theOutcomeIsReportedToTheCircuit() throws {
        rights.hold(permit: try breaker.admit(anyRequest.url))
        rights.giveBack(.failed)
        #expect(breaker.state(of: try #require(anyRequest.url)) == .open)
    }

    @Test func aPermitThatComesAfterTheEndReportsNothing() throws {
        rights.giveBack(.failed)
        rights.hold(permit: try breaker.admit(anyRequest.url))
        #expect(breaker.state(of: try #require(anyRequest.url)) == .closed && rights.permit == nil)
    }

    @Test func aPermitIsTakenForAnotherHostOnly() throws {
        rights.hold(permit: try breaker.admit(anyRequest.url))
        #expect(rights.takePermit(unlessFor: Origin(anyRequest.url)) == nil)
        #expect(rights.takePermit(unlessFor: Origin(URL(string: "http://other.invalid/"))) != nil)
        #expect(rights.permit == nil)
    }
}
