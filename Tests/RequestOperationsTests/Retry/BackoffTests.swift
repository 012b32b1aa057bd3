import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct BackoffTests {
    // MARK: Curves

    @Test(arguments: [
        (1, Duration.milliseconds(500)), (2, .seconds(1)), (3, .seconds(2)), (4, .seconds(4)), (5, .seconds(8)),
        (6, .seconds(16)), (7, .seconds(20)), (8, .seconds(20)), (1000, .seconds(20)), (Int.max, .seconds(20)),
    ])
    func `The exponential curve doubles from half a second up to twenty`(retry: Int, delay: Duration) {
        #expect(Backoff.exponential(jitter: .none).delay(beforeRetry: retry) == delay)
    }

    @Test(arguments: [(1, 1), (2, 3), (3, 60), (4, 3600), (5, 21600), (6, 21600), (Int.max, 21600)])
    func `The table up to six hours stays at its last delay`(retry: Int, seconds: Int) {
        let table = Backoff.table(
            [1, 3, 60, 3600, 21600].map { Duration.seconds($0) }, jitter: .none)
        #expect(table.delay(beforeRetry: retry) == .seconds(seconds))
        #expect(Backoff.upToSixHours.maximum == .seconds(21600))
    }

    @Test(arguments: [(1, 2), (2, 5), (3, 8), (4, 11), (7, 20), (8, 20), (Int.max, 20)])
    func `The linear curve adds the increment up to the maximum`(retry: Int, seconds: Int) {
        let backoff = Backoff.linear(initial: .seconds(2), increment: .seconds(3), jitter: .none)
        #expect(backoff.delay(beforeRetry: retry) == .seconds(seconds))
    }

    @Test(arguments: [Int.min, -1, 0, 1])
    func `A number below one counts as the first retry`(retry: Int) {
        #expect(Backoff.exponential(jitter: .none).delay(beforeRetry: retry) == .milliseconds(500))
        #expect(Backoff.table([.seconds(1), .seconds(3)], jitter: .none).delay(beforeRetry: retry) == .seconds(1))
    }

    @Test func `An empty table is no delay`() {
        #expect(Backoff.table([]).delay(beforeRetry: 3) == .zero)
    }

    @Test func `A zero in a table is no delay`() {
        let backoff = Backoff.table([.zero, .seconds(1)])
        #expect(backoff.delay(beforeRetry: 1) == .zero)
    }

    // MARK: Exactness

    @Test(arguments: [1, 3, 7, 100, 300, 700, 1100, 8700, 20001])
    func `A delay without jitter is exact`(milliseconds: Int) {
        let delay = Duration.milliseconds(milliseconds)
        #expect(Backoff.constant(delay).delay(beforeRetry: 1) == delay)
        #expect(Backoff.table([delay], jitter: .none).delay(beforeRetry: 9) == delay)
        #expect(
            Backoff.exponential(initial: delay, maximum: .seconds(100), jitter: .none).delay(beforeRetry: 1) == delay)
        #expect(
            Backoff.exponential(initial: .seconds(99), maximum: delay, jitter: .none).delay(beforeRetry: 2) == delay)
        #expect(
            Backoff.linear(initial: delay, increment: .zero, maximum: .seconds(100), jitter: .none)
                .delay(beforeRetry: 5) == delay)
    }

    @Test func `A delay longer than an Int64 of nanoseconds is kept`() {
        let long = Duration.seconds(Int64(1) << 40)
        #expect(Backoff.constant(long).delay(beforeRetry: 1) == long)
        #expect(Backoff.exponential(initial: long, maximum: long * 2, jitter: .none).delay(beforeRetry: 2) == long * 2)
    }

    // MARK: Extremes

    static let extremes: [Backoff] = {
        let durations: [Duration] = [
            .seconds(-1), .seconds(Int64.min / 2), .zero, .nanoseconds(1), .milliseconds(300), .seconds(20),
            .seconds(Int64.max),
        ]
        let factors: [Double] = [
            -.infinity, -1, 0, 0.5, 1, 2, 1e300, .greatestFiniteMagnitude, .infinity, .nan, .leastNonzeroMagnitude,
        ]
        let jitters: [Backoff.Jitter] = [.full, .equal, .none]
        var all: [Backoff] = []
        for initial in durations {
            for maximum in durations {
                for jitter in jitters {
                    for factor in factors {
                        all.append(.exponential(initial: initial, factor: factor, maximum: maximum, jitter: jitter))
                    }
                    for increment in durations {
                        all.append(.linear(initial: initial, increment: increment, maximum: maximum, jitter: jitter))
                    }
                    all.append(.table([initial, maximum], jitter: jitter))
                    all.append(.constant(initial, jitter: jitter))
                }
                all.append(.decorrelated(initial: initial, maximum: maximum))
            }
        }
        return all
    }()

    @Test(arguments: [Int.min, 0, 1, 2, 3, 31, 32, 33, 64, 1 << 20, Int.max - 1, Int.max])
    func `A delay is never negative or above the maximum whatever the parameters`(retry: Int) {
        let random = RandomSource(seed: 1)
        for backoff in Self.extremes {
            let delay = backoff.delay(beforeRetry: retry, using: random)
            #expect(delay >= .zero && delay <= backoff.maximum, "\(backoff)")
        }
    }

    @Test func `A maximum below zero is zero`() {
        #expect(Backoff.exponential(maximum: .seconds(-5)).maximum == .zero)
    }

    @Test func `A factor below one shrinks the delays`() {
        let backoff = Backoff.exponential(initial: .seconds(8), factor: 0.5, jitter: .none)
        #expect((1...4).map { backoff.delay(beforeRetry: $0) } == [.seconds(8), .seconds(4), .seconds(2), .seconds(1)])
        #expect(backoff.delay(beforeRetry: .max) == .zero)
    }

    @Test(arguments: [0, -1, -1e300] as [Double])
    func `A factor of zero or less delays the first retry only`(factor: Double) {
        let backoff = Backoff.exponential(initial: .seconds(8), factor: factor, jitter: .none)
        #expect((1...3).map { backoff.delay(beforeRetry: $0) } == [.seconds(8), .zero, .zero])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `A factor that is not finite counts as one`(factor: Double) {
        let backoff = Backoff.exponential(initial: .seconds(8), factor: factor, jitter: .none)
        #expect((1...3).map { backoff.delay(beforeRetry: $0) } == [.seconds(8), .seconds(8), .seconds(8)])
    }

    // MARK: Jitter

    private static func draws(_ backoff: Backoff, retry: Int, count: Int = 10_000) -> [Double] {
        let random = RandomSource(seed: 42)
        return (0..<count).map { _ in backoff.delay(beforeRetry: retry, using: random) / .seconds(1) }
    }

    /// The share of the draws in each tenth of a range.
    private static func tenths(_ draws: [Double], _ range: ClosedRange<Double>) -> [Double] {
        var counts = [Double](repeating: 0, count: 10)
        for draw in draws {
            let place = (draw - range.lowerBound) / (range.upperBound - range.lowerBound)
            counts[min(Int(place * 10), 9)] += 1 / Double(draws.count)
        }
        return counts
    }

    @Test(arguments: [(1, 0.5), (4, 4.0), (9, 20.0)])
    func `Full jitter is uniform from zero to the delay`(retry: Int, delay: Double) {
        let draws = Self.draws(.exponential(), retry: retry)
        #expect(draws.allSatisfy { (0...delay).contains($0) })
        #expect(Self.tenths(draws, 0...delay).allSatisfy { (0.08...0.12).contains($0) })
    }

    @Test(arguments: [(1, 0.5), (4, 4.0), (9, 20.0)])
    func `Equal jitter is uniform from half the delay to the delay`(retry: Int, delay: Double) {
        let draws = Self.draws(.exponential(jitter: .equal), retry: retry)
        #expect(draws.allSatisfy { (delay / 2...delay).contains($0) })
        #expect(Self.tenths(draws, delay / 2...delay).allSatisfy { (0.08...0.12).contains($0) })
    }

    @Test(arguments: [(1, 1.0), (2, 3.0), (3, 60.0), (4, 3600.0), (5, 21600.0), (9, 21600.0)])
    func `The backoff up to six hours draws up to its table`(retry: Int, bound: Double) {
        let draws = Self.draws(.upToSixHours, retry: retry, count: 2000)
        #expect(draws.allSatisfy { (0...bound).contains($0) })
        #expect(draws.contains { $0 > bound * 0.99 } && draws.contains { $0 < bound * 0.01 })
    }

    @Test func `The first decorrelated delay is uniform from the initial to three times it`() {
        let draws = Self.draws(.decorrelated(), retry: 1)
        #expect(draws.allSatisfy { (0.5...1.5).contains($0) })
        #expect(Self.tenths(draws, 0.5...1.5).allSatisfy { (0.08...0.12).contains($0) })
    }

    @Test func `The second decorrelated delay reaches nine times the initial and its mean is three and a half`() {
        let draws = Self.draws(.decorrelated(initial: .seconds(1), maximum: .seconds(100)), retry: 2)
        #expect(draws.allSatisfy { (1...9).contains($0) })
        #expect(draws.contains { $0 > 8 })
        // The first is 2 on average; the second then (1 + 3 × 2) / 2.
        #expect(abs(draws.reduce(0, +) / Double(draws.count) - 3.5) < 0.1)
    }

    @Test func `Decorrelated delays grow to the maximum and never beyond`() {
        let draws = Self.draws(.decorrelated(), retry: .max, count: 2000)
        #expect(draws.allSatisfy { (0.5...20).contains($0) })
        #expect(draws.contains(20))
    }

    @Test func `Operations that share a source draw different delays`() {
        let random = RandomSource(seed: 7)
        let backoff = Backoff.exponential()
        let delays = Set((0..<100).map { _ in backoff.delay(beforeRetry: 3, using: random) })
        #expect(delays.count == 100)
    }

    @Test func `The same seed gives the same delays`() {
        let first = RandomSource(seed: 9)
        let second = RandomSource(seed: 9)
        for retry in 1...50 {
            let backoff = Backoff.exponential()
            #expect(backoff.delay(beforeRetry: retry, using: first) == backoff.delay(beforeRetry: retry, using: second))
        }
    }
}
