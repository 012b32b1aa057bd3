/// What is measured: a column of the tables.
enum Measure: String, Codable, CodingKeyRepresentable, CaseIterable, Sendable {
    /// Requests or operations a second.
    case rate
    /// Mebibytes a second.
    case throughput
    /// Microseconds of processor time of the client's process, user and system, for each request or operation.
    case cpu
    /// The same, above that of a bare operation in the same process.
    case cpuAboveBare
    /// The same of a bare operation.
    case bareCPU
    /// Seconds of processor time of the client's process.
    case cpuSeconds
    /// Microseconds from the making of a request to its checked response, the median.
    case latency
    /// The largest resident size of the client's process, in megabytes.
    case peak
    /// How far a size of the process is above that of the process at rest, in megabytes.
    case growth
    /// The most threads that the client's process had.
    case threads
    /// Bytes of memory for each operation that waits.
    case bytes
    /// How late a wait ended, in milliseconds, the median.
    case lateness
    /// How late a wait ended, in milliseconds, the 99th percentile.
    case latenessOfMost
    /// How much longer something took, in milliseconds.
    case delay
    /// The largest ratio of the peaks of two successive rounds.
    case peakRatio
    /// The largest ratio of the floors of two successive rounds.
    case floorRatio
    /// How many descriptors more than at the beginning the process has open at the end.
    case descriptors
    /// How many operations did not end, or ended more than once.
    case lost
    /// Requests that arrive at a server while it fails, for each new one.
    case amplification
    /// The most requests a second while a server fails, in multiples of the steady rate.
    case outagePeak
    /// The most requests a second in the ten seconds after a server recovered, in multiples of the steady rate.
    case recoveryPeak
    /// How many requests, made before a server recovered, failed.
    case failed
    /// How many requests, made before a server recovered, had no result at the end.
    case unanswered

    /// The head of the column, with the unit.
    var heading: String {
        switch self {
        case .rate: "per second"
        case .throughput: "MiB/s"
        case .cpu: "CPU µs each"
        case .cpuAboveBare: "above bare"
        case .bareCPU: "bare"
        case .cpuSeconds: "CPU s"
        case .latency: "median µs"
        case .peak: "peak MB"
        case .growth: "above rest MB"
        case .threads: "threads"
        case .bytes: "bytes each"
        case .lateness: "late ms p50"
        case .latenessOfMost: "late ms p99"
        case .delay: "delay ms"
        case .peakRatio: "peak ratio"
        case .floorRatio: "floor ratio"
        case .descriptors: "descriptors"
        case .lost: "lost"
        case .amplification: "requests / new"
        case .outagePeak: "outage peak"
        case .recoveryPeak: "recovery peak"
        case .failed: "failed"
        case .unanswered: "unanswered"
        }
    }

    /// How many digits are shown after the point.
    var digits: Int {
        switch self {
        case .rate, .throughput, .threads, .bytes, .descriptors, .lost, .failed, .unanswered: 0
        case .peak, .growth, .latency, .cpu, .cpuAboveBare, .bareCPU: 1
        case .cpuSeconds, .lateness, .latenessOfMost, .delay, .outagePeak, .recoveryPeak: 2
        case .peakRatio, .floorRatio, .amplification: 3
        }
    }
}

/// What one worker measured in one round.
struct Sample: Codable, Sendable {
    /// The values, in the unit of their measure.
    var values: [Measure: Double] = [:]
    /// Sentences that belong to the result, such as the counts of the stages.
    var remarks: [String] = []
    /// A value for each second, where the benchmark has curves.
    var curve: [Double]?
}
