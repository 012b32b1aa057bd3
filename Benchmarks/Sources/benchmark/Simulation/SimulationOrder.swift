/// Many processes that make requests of one server while it fails and after that, in virtual time.
struct SimulationOrder: Codable, Sendable {
    /// What a process does after a failure.
    var policy: StormPolicy.Kind
    /// How many processes there are.
    var processes: Int
    /// How many requests each of them is asked for in a second.
    var rate: Double
    /// How many operations of a process run at once. One runs from its first attempt to its end and keeps its place while it
    /// waits for a retry, as in an `OperationQueue`; those beyond wait in a line without an end.
    var places: Int
    /// For how many seconds the server fails.
    var outage: Double
    /// Whether each request is the only one of its process.
    var isOneRequestEach = false
    /// What all numbers follow from.
    var seed: UInt64 = 1

    /// Within so many seconds the processes start, each at a moment of its own.
    static let start = 10.0
    /// The second in which the server begins to fail: as long after the last start as a budget looks back, and as long again.
    static let failure = 30.0
    /// How many seconds are looked at before the failure, in the curve.
    static let lead = 10.0
    /// How many seconds are looked at after the recovery.
    static let rest = 60.0
    /// After how many seconds the server answers, whatever it answers.
    static let answer = 0.02...0.08

    /// How far apart the earliest and the latest answer are.
    static var answerSpread: Double { answer.upperBound - answer.lowerBound }

    /// The second in which the server answers with 200 again.
    var recovery: Double { Self.failure + outage }

    /// When the simulation ends.
    var end: Double { recovery + Self.rest }

    /// Whether the server answers a request that arrives in this second with 503.
    func fails(at second: Double) -> Bool {
        second >= Self.failure && second < recovery
    }

    /// Simulates it.
    func carryOut() -> Sample {
        var storm = Storm(self)
        let traffic = storm.run()
        let steady = rate * Double(processes)
        var sample = Sample()
        sample.values[.amplification] = traffic.amplification(from: Self.failure, to: recovery)
        sample.values[.outagePeak] = traffic.peak(from: Self.failure, to: recovery) / steady
        sample.values[.recoveryPeak] = traffic.peak(from: recovery, to: recovery + 10) / steady
        sample.values[.failed] = Double(traffic.failed)
        sample.values[.unanswered] = Double(traffic.made(before: recovery) - traffic.failed - traffic.succeeded)
        sample.curve = traffic.perSecond(from: Self.failure - Self.lead, to: end)
        return sample
    }
}
