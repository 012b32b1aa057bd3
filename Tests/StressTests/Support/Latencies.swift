import RequestOperations

/// How long something took, many times.
struct Latencies: CustomStringConvertible {
    private let sorted: [Duration]

    /// At least one.
    init(_ latencies: [Duration]) {
        sorted = latencies.sorted()
    }

    var median: Duration { sorted[sorted.count / 2] }
    var percentile99: Duration { sorted[(sorted.count * 99 - 1) / 100] }
    var longest: Duration { sorted[sorted.count - 1] }

    var description: String {
        func milliseconds(_ duration: Duration) -> String { String(format: "%.1f", duration / .milliseconds(1)) }
        return "median \(milliseconds(median)) ms, 99th percentile \(milliseconds(percentile99)) ms, "
            + "longest \(milliseconds(longest)) ms of \(sorted.count)"
    }
}
