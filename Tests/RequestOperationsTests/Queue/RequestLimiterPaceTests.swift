import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// How a limiter keeps to the paces of its hosts.
@Suite(.timeLimit(.minutes(15))) struct RequestLimiterPaceTests {
    private static let url = URL(string: "http://a.example/")!  // It is one.
    private static let other = URL(string: "http://b.example/")!  // It is one.

    private let clock = RecordingClock()
    private let origin = Origin(url)

    /// Has somebody wait for a limiter.
    private func lineUp(_ limiter: RequestLimiter, for origin: Origin) -> Answer<Void> {
        let answer = Answer<Void>()
        #expect(limiter.enter(origin, at: limiter.newPlace(), answer) == .waits)
        return answer
    }

    // MARK: The line

    @Test func `Who waits goes earlier where late responses show a higher rate`() async throws {
        let limiter = RequestLimiter(adaptsToTooManyRequests: true, clock: clock)
        limiter.heard(429, from: Self.url)
        let waiter = lineUp(limiter, for: origin)
        for _ in 0..<10 { limiter.heard(200, from: Self.url) }
        await clock.sleeps.count(10)
        clock.manual.advance(by: .milliseconds(100))
        try await waiter.value
    }

    @Test func `A slot that was not used goes to the next waiter at once`() {
        let limiter = RequestLimiter(rate: .perSecond(0.001), clock: clock)
        let slot = limiter.slotAtOnce(for: origin)
        _ = lineUp(limiter, for: origin)
        slot?.release(isUnused: true)
        #expect(limiter.waitingCount == 0)
    }

    @Test func `A slot that was used does not`() {
        let limiter = RequestLimiter(rate: .perSecond(0.001), clock: clock)
        let slot = limiter.slotAtOnce(for: origin)
        _ = lineUp(limiter, for: origin)
        slot?.release()
        #expect(limiter.waitingCount == 1)
    }

    @Test func `Those who wait for their time and leave do not pile up`() {
        let limiter = RequestLimiter(rate: .perSecond(0.001), clock: clock)
        limiter.slotAtOnce(for: origin)?.release()
        for _ in 0..<1000 {
            let place = limiter.newPlace()
            _ = limiter.enter(origin, at: place, Answer())
            _ = limiter.leave(place)
        }
        #expect(limiter.keptCounts.hosts == 0 && limiter.keptCounts.entries <= 20)
    }

    // MARK: The alarm

    @Test func `One alarm is set at a time`() async throws {
        let limiter = RequestLimiter(rate: .perSecond(10), adaptsToTooManyRequests: true, clock: clock)
        // For 1 s nothing is sent there.
        limiter.heard(429, from: Self.other)
        _ = lineUp(limiter, for: Origin(Self.other))
        await clock.sleeps.count(1)
        _ = limiter.slotAtOnce(for: origin)
        for round in 1...5 {
            let waiter = lineUp(limiter, for: origin)
            await clock.sleeps.count(2 * round)
            clock.manual.advance(by: .milliseconds(100))
            try await waiter.value
            // That of the other host is set again.
            await clock.sleeps.count(2 * round + 1)
        }
        await eventually { clock.manual.sleeperCount == 1 }
        #expect(clock.sleeps.elements.count { $0 == .seconds(1) } == 6)
    }

    @Test func `An alarm that was set too late is of no use`() throws {
        var table = SlotTable(
            total: .max, perHost: .max, maximumWaiting: .max,
            pacing: Pacing(rate: .perSecond(1), scope: .host, adapts: false))
        _ = table.take(origin)
        _ = table.enter(origin, at: table.newPlace(), Answer(), mayBeRejected: false)
        _ = table.admit()
        let alarm = table.alarmToSet(now: 0)
        let next = try #require(alarm)
        table.alarmRang(next.number)
        let isKept = table.keep(.sleeper(Task {}), as: next)
        #expect(!isKept)
    }

    // MARK: The clock

    @Test func `Without a rate, giving a slot back reads no clock`() {
        let reads = Collector<Void>()
        let limiter = RequestLimiter(total: 1, clock: AskingClock { reads.append(()) })
        let slot = limiter.slotAtOnce(for: origin)
        let count = reads.count
        slot?.release()
        #expect(reads.count == count)
    }

    // MARK: Memory

    @Test func `A host that answers 429 only is forgotten within a day`() {
        let limiter = RequestLimiter(adaptsToTooManyRequests: true, clock: clock)
        for _ in 0..<23 {
            limiter.heard(429, from: Self.url)
            clock.manual.advance(by: .seconds(60))
        }
        clock.manual.advance(by: .seconds(13 * 3600))
        limiter.slotAtOnce(for: Origin(Self.other))?.release()
        #expect(limiter.pacedHostCount == 1)
    }

    @Test func `Few hosts that rest are forgotten within an hour`() {
        let limiter = RequestLimiter(rate: .perSecond(1), clock: clock)
        for host in 0..<10 {
            limiter.slotAtOnce(for: Origin(URL(string: "http://h\(host).example/")))?.release()
        }
        clock.manual.advance(by: .seconds(3600))
        limiter.slotAtOnce(for: origin)?.release()
        #expect(limiter.pacedHostCount == 1)
    }
}
