extension RequestLimiter {
    /// How many attempts may begin in a time.
    ///
    /// Attempts follow each other evenly. With ``perSecond(_:burst:)`` of 10, one begins every 100 ms.
    public struct Rate: Sendable, Hashable, CustomStringConvertible {
        /// The attempts that may begin in a second.
        public let perSecond: Double
        /// How many attempts may begin at once after a pause.
        public let burst: Int

        /// A number of attempts per second.
        ///
        /// - Parameters:
        ///   - count: The attempts per second. It may be less than 1: 0.1 is one attempt in ten seconds. Zero, a
        ///     negative number and NaN are programming errors.
        ///   - burst: How many attempts may begin at once if none began for a while. 1 by default, and at least 1.
        public static func perSecond(_ count: Double, burst: Int = 1) -> Rate {
            precondition(count > 0, "A rate of \(count) attempts a second would hold its requests for ever.")
            return Rate(perSecond: min(count, 1e9), burst: max(burst, 1))
        }

        /// The rate as text, such as "10.0 per second".
        public var description: String { "\(perSecond) per second" + (burst > 1 ? ", \(burst) at once" : "") }
    }

    /// What a rate bounds.
    public enum RateScope: Sendable, Hashable {
        /// The attempts to each scheme, host and port, separately.
        case host
        /// All attempts together.
        case all
    }
}
