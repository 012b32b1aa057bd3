/// How long to wait before a retry, as a function of the number of the retry.
///
/// | retry | `.exponential()` before jitter | `.upToSixHours` before jitter |
/// |---|---|---|
/// | 1 | 0.5 s | 1 s |
/// | 2 | 1 s | 3 s |
/// | 3 | 2 s | 60 s |
/// | 4 | 4 s | 3600 s |
/// | 5 | 8 s | 21600 s |
/// | 7 and on | 20 s | 21600 s |
///
/// Full jitter draws uniformly from zero to that delay (Brooker, "Exponential backoff and jitter", AWS, 2015). A delay
/// is never negative, never NaN and never above ``maximum``, for any parameters and any retry number. Without jitter it
/// is exactly the configured delay, to the nanosecond.
public struct Backoff: Sendable, Hashable {
    /// How randomness enters a delay.
    public enum Jitter: Sendable, Hashable {
        /// A random delay, uniform from zero to the delay.
        case full
        /// Half the delay, plus a random part that is uniform from zero to the other half.
        case equal
        /// The exact delay. Clients that failed at the same time then also retry at the same time.
        case none
    }

    private enum Curve: Sendable, Hashable {
        case exponential(initial: Double, factor: Double)
        case linear(initial: Double, increment: Double)
        case table([Duration])
        case decorrelated(initial: Double)
    }

    private let curve: Curve

    /// The largest delay before jitter. It is always less than `Int64.max` seconds, which means "no limit" here.
    public let maximum: Duration

    /// How randomness enters a delay.
    public let jitter: Jitter

    private init(_ curve: Curve, maximum: Duration, jitter: Jitter) {
        self.curve = curve
        // This bound keeps sums of such durations from overflowing.
        self.maximum = min(max(maximum, .zero), .seconds(Int64.max - 1))
        self.jitter = jitter
    }

    /// `initial × factor^(retry − 1)`, at most `maximum`.
    ///
    /// - Parameters:
    ///   - initial: The delay before the first retry. 0.5 s by default.
    ///   - factor: The growth from one retry to the next. 2 by default. Below 1 the delays shrink. A negative factor
    ///     counts as 0, and one that is not finite counts as 1.
    ///   - maximum: The largest delay. 20 s by default.
    ///   - jitter: Full by default.
    public static func exponential(
        initial: Duration = .milliseconds(500), factor: Double = 2, maximum: Duration = .seconds(20),
        jitter: Jitter = .full
    ) -> Backoff {
        Backoff(
            .exponential(initial: initial.inSeconds, factor: factor.isFinite ? max(factor, 0) : 1), maximum: maximum,
            jitter: jitter)
    }

    /// The delays of a table, in order. After the end of the table its last delay repeats. An empty table means no
    /// delay.
    ///
    /// - Parameters:
    ///   - delays: The delays before jitter.
    ///   - jitter: Full by default.
    public static func table(_ delays: [Duration], jitter: Jitter = .full) -> Backoff {
        Backoff(.table(delays), maximum: delays.max() ?? .zero, jitter: jitter)
    }

    /// The same delay before every retry.
    ///
    /// - Parameters:
    ///   - delay: The delay.
    ///   - jitter: None by default.
    public static func constant(_ delay: Duration, jitter: Jitter = .none) -> Backoff {
        .table([delay], jitter: jitter)
    }

    /// `initial + increment × (retry − 1)`, at most `maximum`.
    ///
    /// - Parameters:
    ///   - initial: The delay before the first retry.
    ///   - increment: What each further retry adds.
    ///   - maximum: The largest delay. 20 s by default.
    ///   - jitter: Full by default.
    public static func linear(
        initial: Duration, increment: Duration, maximum: Duration = .seconds(20), jitter: Jitter = .full
    ) -> Backoff {
        Backoff(
            .linear(initial: initial.inSeconds, increment: increment.inSeconds), maximum: maximum, jitter: jitter)
    }

    /// A delay drawn uniformly from `initial` to three times the previous delay, at most `maximum`. It needs no further
    /// jitter.
    ///
    /// The delays of earlier waits are not stored. For each retry, the whole series of delays is drawn again.
    ///
    /// - Parameters:
    ///   - initial: The smallest delay. 0.5 s by default.
    ///   - maximum: The largest delay. 20 s by default.
    public static func decorrelated(
        initial: Duration = .milliseconds(500), maximum: Duration = .seconds(20)
    ) -> Backoff {
        Backoff(.decorrelated(initial: initial.inSeconds), maximum: maximum, jitter: .none)
    }

    /// 1, 3, 60, 3600 and then 21600 s, with full jitter.
    ///
    /// This is the table of the older URLRequestOperation, which this package replaces.
    public static let upToSixHours = Backoff.table([
        .seconds(1), .seconds(3), .seconds(60), .seconds(3600), .seconds(21600),
    ])

    /// The delay before a retry.
    ///
    /// - Parameters:
    ///   - retry: The number of the retry, from 1; smaller numbers count as 1.
    ///   - random: The source of the jitter.
    public func delay(beforeRetry retry: Int, using random: RandomSource = .system) -> Duration {
        jittered(unjittered(retry, random), random)
    }

    /// The longest that ``delay(beforeRetry:using:)`` can be.
    package func longestDelay(beforeRetry retry: Int) -> Duration {
        if case .decorrelated = curve { maximum } else { unjittered(retry, .system) }
    }

    private func unjittered(_ retry: Int, _ random: RandomSource) -> Duration {
        let step = max(retry, 1)
        let delay: Duration =
            switch curve {
            // An initial delay of zero can give 0 × ∞, which is NaN. It counts as zero.
            case .exponential(let initial, let factor): .rounded(seconds: initial * pow(factor, Double(step - 1)))
            case .linear(let initial, let increment): .rounded(seconds: initial + increment * Double(step - 1))
            case .table(let delays): delays.isEmpty ? .zero : delays[min(step, delays.count) - 1]
            case .decorrelated(let initial): decorrelated(initial: initial, steps: step, random)
            }
        return min(max(delay, .zero), maximum)
    }

    private func jittered(_ delay: Duration, _ random: RandomSource) -> Duration {
        let share =
            switch jitter {
            case .full: random.next()
            case .equal: 0.5 + random.next() / 2
            case .none: 1.0
            }
        return share == 1 ? delay : min(.rounded(seconds: delay.inSeconds * share), delay)
    }

    /// We walk the series from its start, so that the function stays pure. After 32 steps its distribution no longer
    /// changes.
    private func decorrelated(initial: Double, steps: Int, _ random: RandomSource) -> Duration {
        let cap = maximum.inSeconds
        var delay = initial
        for _ in 0..<min(steps, 32) {
            delay = min(cap, initial + (max(delay * 3, initial) - initial) * random.next())
        }
        return .rounded(seconds: delay)
    }
}

/// A shared source of random numbers for jitter.
///
/// It is a reference type behind a lock, not a value. If each operation's configuration had a copy, every operation
/// would draw the same jitter, and all would retry at the same time.
public final class RandomSource: Sendable {
    private let generator: Locked<any RandomNumberGenerator>

    /// The system's generator.
    public static let system = RandomSource(SystemRandomNumberGenerator())

    /// Makes a source from a generator of your own.
    ///
    /// - Parameter generator: The generator of the numbers. It is called under a lock, for one number at a time. So it
    ///   must return quickly and must not call this source.
    public init(_ generator: any RandomNumberGenerator & Sendable) {
        self.generator = Locked(generator)
    }

    /// Makes a source whose numbers depend only on a seed, for tests and simulations.
    public convenience init(seed: UInt64) {
        self.init(SplitMix64(seed: seed))
    }

    /// Returns the next number, uniformly from `0 ..< 1`.
    public func next() -> Double {
        // 53 bits fill the fraction of a Double exactly, so the result is never 1. The generator is foreign code, but
        // we call it under the lock: each call changes the generator, and the lock protects exactly that.
        generator.withLock { Double($0.next() >> 11) * 0x1p-53 }
    }
}

/// A generator that gives the same numbers for the same seed.
///
/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (OOPSLA 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
