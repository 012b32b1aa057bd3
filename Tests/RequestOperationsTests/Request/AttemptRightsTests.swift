import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct AttemptRightsTests {
    private let limiter = RequestLimiter(total: 4)
    private let breaker = KnownBreaker(minimumThroughput: 1, clock: ManualClock())
    private let rights = AttemptRights()

    private func slot() throws -> RequestLimiter.Slot {
        try #require(limiter.slotAtOnce(for: Origin(anyRequest.url)))
    }

    @Test func `What is held is in flight`() throws {
        try rights.hold(place: slot())
        try rights.hold(slot: slot())
        #expect(limiter.inFlightCount == 2 && rights.place != nil)
    }

    @Test func `Everything is given back`() throws {
        try rights.hold(place: slot(), slot: slot())
        rights.giveBack(.succeeded)
        #expect(limiter.inFlightCount == 0 && rights.place == nil)
    }

    @Test func `Only the first outcome counts`() throws {
        rights.hold(permit: try breaker.admit(anyRequest.url))
        rights.giveBack(.succeeded)
        rights.giveBack(.failed)
        #expect(breaker.state(of: try #require(anyRequest.url)) == .closed)
    }

    @Test func `The place is given up alone`() throws {
        try rights.hold(place: slot())
        try rights.hold(slot: slot())
        rights.giveUpPlace()
        #expect(limiter.inFlightCount == 1 && rights.place == nil)
    }

    @Test func `The slot is given up alone`() throws {
        try rights.hold(place: slot())
        try rights.hold(slot: slot())
        rights.giveUpSlot()
        #expect(limiter.inFlightCount == 1 && rights.place != nil)
    }

    @Test func `The place is exchanged for one of another host`() throws {
        let other = Origin(URL(string: "http://other.invalid/"))
        try rights.hold(place: slot())
        try rights.exchangePlace(for: other)
        #expect(limiter.inFlightCount == 1 && rights.place?.origin == other)
        limiter.perHost = 1
        let occupied = limiter.slotAtOnce(for: Origin(anyRequest.url))
        try rights.exchangePlace(for: Origin(anyRequest.url))
        #expect(limiter.inFlightCount == 1 && rights.place == nil)
        occupied?.release()
    }

    @Test func `What comes after the end is free again`() throws {
        rights.giveBackUnused()
        let late = try (0..<4).map { _ in try slot() }
        #expect(throws: CancellationError.self) { try rights.hold(slot: late[0]) }
        #expect(throws: CancellationError.self) { try rights.hold(place: late[1]) }
        #expect(throws: CancellationError.self) { try rights.hold(place: late[2], slot: late[3]) }
        #expect(limiter.inFlightCount == 0)
    }

    @Test func `The outcome is reported to the circuit`() throws {
        rights.hold(permit: try breaker.admit(anyRequest.url))
        rights.giveBack(.failed)
        #expect(breaker.state(of: try #require(anyRequest.url)) == .open)
    }

    @Test func `A permit that comes after the end reports nothing`() throws {
        rights.giveBack(.failed)
        rights.hold(permit: try breaker.admit(anyRequest.url))
        #expect(breaker.state(of: try #require(anyRequest.url)) == .closed && rights.permit == nil)
    }

    @Test func `A permit is taken for another host only`() throws {
        rights.hold(permit: try breaker.admit(anyRequest.url))
        #expect(rights.takePermit(unlessFor: Origin(anyRequest.url)) == nil)
        #expect(rights.takePermit(unlessFor: Origin(URL(string: "http://other.invalid/"))) != nil)
        #expect(rights.permit == nil)
    }
}
