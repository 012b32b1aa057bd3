/// Counts durations in buckets. Percentiles of any number of durations need the same memory.
///
/// Each power of two of microseconds is divided into 128 buckets, so a percentile is at most 0.8 % too large.
public struct LatencyHistogram: Sendable {
    private static let subdivisions = 128

    private var counts: [Int] = []

    /// How many durations were counted.
    public private(set) var count = 0

    /// The largest counted duration. It is exact.
    public private(set) var maximum = Duration.zero

    /// The sum of all counted durations.
    public private(set) var sum = Duration.zero

    /// Makes a histogram without durations.
    public init() {}

    /// Counts a duration.
    public mutating func record(_ duration: Duration) {
        let index = Self.bucket(of: duration.nanoseconds / 1000)
        if index >= counts.count { counts.append(contentsOf: repeatElement(0, count: index + 1 - counts.count)) }
        counts[index] += 1
        count += 1
        sum += duration
        maximum = max(maximum, duration)
    }

    /// The duration that a fraction of all counted durations do not exceed. Zero if there are none.
    ///
    /// - Parameter fraction: From 0 to 1. 0.5 is the median.
    public func percentile(_ fraction: Double) -> Duration {
        let wanted = max(1, Int((fraction * Double(count)).rounded(.up)))
        var seen = 0
        for (index, number) in counts.enumerated() {
            seen += number
            if seen >= wanted { return min(.microseconds(Self.upperBound(of: index)), maximum) }
        }
        return maximum
    }

    /// How many durations lie in each of some equal steps of a logarithmic scale, from the smallest duration to the largest.
    ///
    /// - Parameter stepsPerOctave: How many steps a doubling has. It divides 128.
    func bars(stepsPerOctave: Int) -> [(upTo: Duration, count: Int)] {
        let width = Self.subdivisions / stepsPerOctave
        var bars: [(upTo: Duration, count: Int)] = []
        for start in stride(from: 0, to: counts.count, by: width) {
            let end = min(start + width, counts.count)
            let number = counts[start..<end].reduce(0, +)
            if number > 0 || !bars.isEmpty {
                bars.append((.microseconds(Self.upperBound(of: start + width - 1)), number))
            }
        }
        return bars
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
