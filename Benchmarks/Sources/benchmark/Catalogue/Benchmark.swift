/// One comparison: contenders that do the same work in turn, round after round, and the floors that must hold.
struct Benchmark {
    /// The name on the command line.
    let name: String
    /// What it compares, in a line.
    let title: String
    /// How many rounds it has of itself.
    var rounds = 5
    /// What its table shows, the main measure first.
    let measures: [Measure]
    /// Whether its contenders are compared with the first of them.
    var hasRatios = true
    /// Whether its main measure is drawn in the chart.
    var isDrawn = false
    /// What must hold.
    var floors: [Floor] = []
    /// What the curves of its contenders show, if they have any.
    var curveFrame: CurveFrame?
    /// The contenders, in their order within a round; the first is what the others are compared with.
    let contenders: (Testbed) throws -> [Contender]
}

/// One of those that do the same work.
struct Contender {
    /// Its name within the benchmark.
    let name: String
    /// Its name in tables and charts.
    let title: String
    /// What its worker does.
    let order: Order
    /// Whether it has a bar where its benchmark is drawn; not if it leaves undone what takes the others their time.
    var isDrawn = true
}

/// The samples of one round, by the names of the contenders.
struct Round: Codable, Sendable {
    /// How far the processors were from each other when it began; see ``Machine/processorDistance``.
    var processorDistance = 0
    var samples: [String: Sample] = [:]

    /// A value of a contender.
    func value(_ measure: Measure, of contender: String) -> Double? {
        samples[contender]?.values[measure]
    }

    /// The ratio of a contender's value to that of another; `nil` if there is none, as to zero.
    func ratio(_ measure: Measure, of contender: String, to other: String) -> Double? {
        guard let dividend = value(measure, of: contender), let divisor = value(measure, of: other),
            divisor != 0
        else { return nil }
        return dividend / divisor
    }

    /// How far a contender's value is above that of another.
    func difference(_ measure: Measure, of contender: String, to other: String) -> Double? {
        guard let first = value(measure, of: contender), let second = value(measure, of: other) else { return nil }
        return first - second
    }
}
