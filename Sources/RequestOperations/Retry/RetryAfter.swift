/// The value of a `Retry-After` field (RFC 9110, section 10.2.3).
public enum RetryAfter {
    /// The delay that a value asks for, or `nil` if it is neither a number of seconds nor a date.
    ///
    /// Seconds are digits. Some servers send a fraction, as in `1.5`, and that counts too. A date may have any of the
    /// three forms of RFC 9110, section 5.6.7, with any separators between its parts. It may have `UTC` or no zone
    /// instead of `GMT`. A date in the past means now. Anything else is ignored, a negative number for example.
    ///
    /// - Parameters:
    ///   - value: The field's value.
    ///   - now: The time that a date is compared with.
    public static func delay(_ value: String, now: Date) -> Duration? {
        let value = value.trimmingCharacters(in: .whitespaces)
        let parts = value.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDecimalDigit) }) else {
            return HTTPDate.parse(value, now: now).map { .rounded(seconds: $0.timeIntervalSince(now)) }
        }
        // A number that overflows counts as the longest delay, which is longer than any request waits.
        let whole = Duration.seconds(min(Int64(parts[0]) ?? .max, longest))
        guard parts.count == 2, let fraction = Double("0." + parts[1]) else { return whole }
        return whole + .rounded(seconds: fraction)
    }

    /// About three thousand years in seconds, far below the limit of a `Duration`.
    private static let longest: Int64 = 100_000_000_000
}

extension UInt8 {
    fileprivate var isDecimalDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
