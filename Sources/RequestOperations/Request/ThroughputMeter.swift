/// Measures how many bytes an attempt moves in a second, over its last seconds. A pure value.
///
/// The bytes that are there at the first report of an attempt do not count: they may come from an earlier one.
struct ThroughputMeter: Sendable {
    private struct Sample {
        let moment: Duration
        let bytes: Int64
    }

    /// Oldest first. The last one is the newest report. The others have some time between them.
    private var samples: [Sample] = []

    private static let window = Duration.seconds(5)
    private static let spacing = Duration.milliseconds(200)
    /// A shorter time says nothing about a speed.
    private static let shortest = Duration.milliseconds(10)

    /// A new attempt begins.
    mutating func restart() {
        samples = []
    }

    /// Takes in how many bytes the attempt has moved at a moment.
    mutating func note(_ bytes: Int64, at moment: Duration) {
        // A redirect may send a body from its first byte again.
        if let last = samples.last, bytes < last.bytes || moment < last.moment { samples = [] }
        let sample = Sample(moment: moment, bytes: bytes)
        if samples.count > 1, moment - samples[samples.count - 2].moment < Self.spacing {
            samples[samples.count - 1] = sample
        } else {
            samples.append(sample)
        }
        while samples.count > 2, samples[1].moment <= moment - Self.window { samples.removeFirst() }
    }

    /// Bytes for each second; `nil` until there are two reports with some time between them.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.moment - first.moment >= Self.shortest else {
            return nil
        }
        return Double(last.bytes - first.bytes) / (last.moment - first.moment).inSeconds
    }
}
