/// Counts durations in buckets. Percentiles of any number of durations need the same memory.
///
/// Each power of two of microseconds is divided into 128 buckets, so a percentile is at most 0.8 % too large.
struct Histogram {
    private static let subdivisions = 128

    private var counts: [Int] = []
    private(set) var count = 0

    /// The largest recorded duration. It is exact.
    private(set) var maximum = Duration.zero

    /// Counts a duration.
    mutating func record(_ duration: Duration) {
        let index = Self.bucket(of: duration.microseconds)
        if index >= counts.count { counts.append(contentsOf: repeatElement(0, count: index + 1 - counts.count)) }
        counts[index] += 1
        count += 1
        maximum = max(maximum, duration)
    }

    /// The duration that a fraction of all recorded durations do not exceed. Zero if there are none.
    ///
    /// - Parameter fraction: From 0 to 1. 0.5 is the median.
    func percentile(_ fraction: Double) -> Duration {
        let wanted = max(1, Int((fraction * Double(count)).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if seen >= wanted { return min(.microseconds(Self.upperBound(of: index)), maximum) }
        }
        return maximum
    }

    private static func bucket(of value: Int64) -> Int {
        let value = Int(max(value, 0))
        guard value >= subdivisions else { return value }
        let shift = value.bitWidth - value.leadingZeroBitCount - subdivisions.trailingZeroBitCount - 1
        return (shift + 1) * subdivisions + (value >> shift) - subdivisions
    }

    private static func upperBound(of bucket: Int) -> Int64 {
        guard bucket >= subdivisions else { return Int64(bucket) }
        let shift = bucket / subdivisions - 1
        return Int64((bucket % subdivisions + subdivisions + 1) << shift - 1)
    }
}

extension Duration {
    /// The duration in whole microseconds, rounded down. It traps for a duration beyond 292,000 years.
    var microseconds: Int64 {
        components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
    }
}
