/// A shared source of random numbers for jitter.
///
/// A reference behind a lock, never a value: were it copied with each operation's configuration, every operation would
/// draw the same jitter, and they would all come back at once.
public final class RandomSource: Sendable {
    private let generator: Locked<any RandomNumberGenerator>

    /// The system's generator.
    public static let system = RandomSource(SystemRandomNumberGenerator())

    /// Makes a source over a generator of your own.
    ///
    /// - Parameter generator: Asked for one number at a time, and meanwhile nobody else is: it must return soon and ask
    ///   this source for nothing.
    public init(_ generator: any RandomNumberGenerator & Sendable) {
        self.generator = Locked(generator)
    }

    /// Makes a source whose numbers follow from a seed, for tests and simulations.
    public convenience init(seed: UInt64) {
        self.init(SplitMix64(state: seed))
    }

    /// The next number, uniformly from `0 ..< 1`.
    public func next() -> Double {
        // 53 bits fill the fraction of a Double exactly, so 1 is never reached. The generator is code of others and runs
        // under the lock all the same: asking changes it, so what the lock guards is the asking.
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
