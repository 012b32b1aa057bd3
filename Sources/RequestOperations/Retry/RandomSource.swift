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
        self.init(SplitMix64(state: seed))
    }

    /// Returns the next number, uniformly from `0 ..< 1`.
    public func next() -> Double {
        // 53 bits fill the fraction of a Double exactly, so the result is never 1. The generator is foreign code, but
        // we call it under the lock: each call changes the generator, and the lock protects exactly that.
        generator.withLock { Double($0.next() >> 11) * 0x1p-53 }
    }
}

/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (OOPSLA 2014).
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
