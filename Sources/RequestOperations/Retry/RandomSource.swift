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
