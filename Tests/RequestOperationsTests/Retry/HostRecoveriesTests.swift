import Testing

@testable import RequestOperations

@Suite struct HostRecoveriesTests {
    /// The times, in seconds, of the successes that are signs, of one every second or so.
    private static func signs(every step: Int = 1, until end: Int) -> [Int] {
        var recoveries = HostRecoveries()
        var last: Int?
        return stride(from: 0, through: end, by: step).filter { second in
            let elapsed = last.map { Duration.seconds(second - $0) }
            let isSign = recoveries.isSign(after: elapsed, spread: .seconds(3), Stopwatch(ContinuousClock()))
            if isSign { last = second }
            return isSign
        }
    }

    @Test func thePauseBetweenTheSignsOfAHostThatComesAndGoesDoublesUpToTwentySpreads() {
        #expect(Self.signs(until: 240) == [0, 3, 9, 21, 45, 93, 153, 213])
    }

    @Test func whatFollowsAfterTwiceThePauseIsANewRecovery() {
        #expect(Self.signs(every: 6, until: 24) == [0, 6, 12, 18, 24])
    }

    @Test func withoutASpreadEverySuccessIsASign() {
        var recoveries = HostRecoveries()
        for _ in 0..<10 {
            let isSign = recoveries.isSign(after: .zero, spread: .zero, Stopwatch(ContinuousClock()))
            #expect(isSign)
        }
    }

    @Test func whatHasNoSignIsIdle() {
        var recoveries = HostRecoveries()
        #expect(recoveries.isIdle)
        _ = recoveries.isSign(after: nil, spread: .seconds(1000), Stopwatch(ContinuousClock()))
        #expect(!recoveries.isIdle)
    }
}
