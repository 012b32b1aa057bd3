/// What must hold, of a value that each round gives, whose median counts, or that the medians of all rounds give.
struct Floor {
    /// What the value is, in words.
    let name: String
    /// On which side of which number it must lie.
    let bound: Bound
    /// The number that is aimed at, beyond the bound.
    var aim: Double?
    /// Whether the value is that of the medians: the largest of several noisy values over the smallest would tell of the
    /// noise.
    var isOfMedians = false
    /// The value of a round.
    let value: (Round) -> Double?

    /// A side of a number; the number itself is kept.
    enum Bound {
        case atLeast(Double)
        case atMost(Double)

        /// Whether a value lies on that side.
        func isKept(by value: Double) -> Bool {
            switch self {
            case .atLeast(let bound): value >= bound
            case .atMost(let bound): value <= bound
            }
        }
    }

    /// A floor of the ratio of two clients.
    static func ratio(
        _ measure: Measure, of client: ClientKind, to other: ClientKind, _ bound: Bound, aim: Double? = nil
    ) -> Floor {
        Floor(
            name: "\(measure.heading) of \(client.title) / \(other.title)", bound: bound, aim: aim
        ) { $0.ratio(measure, of: client.rawValue, to: other.rawValue) }
    }
}

/// Whether a floor held.
struct Verdict {
    let benchmark: String
    let floor: Floor
    /// The values of the rounds; `nil` if no round gave one.
    let spread: Spread?

    /// Whether it did. A floor without a value is missed.
    var isKept: Bool { spread.map { floor.bound.isKept(by: $0.median) } ?? false }
}

/// What came of one benchmark.
struct Outcome {
    let benchmark: Benchmark
    let contenders: [Contender]
    let rounds: [Round]

    /// The values of a contender.
    func spread(_ measure: Measure, of contender: String) -> Spread? {
        Spread(rounds.compactMap { $0.value(measure, of: contender) })
    }

    /// The ratios of a contender's values to those of the first contender, each within its round.
    func ratio(_ measure: Measure, of contender: String) -> Spread? {
        guard let reference = contenders.first?.name, reference != contender else { return nil }
        return Spread(rounds.compactMap { $0.ratio(measure, of: contender, to: reference) })
    }

    /// Whether each floor held.
    var verdicts: [Verdict] {
        benchmark.floors.map { floor in
            let rounds = floor.isOfMedians ? [medians] : rounds
            return Verdict(benchmark: benchmark.name, floor: floor, spread: Spread(rounds.compactMap(floor.value)))
        }
    }

    /// The median of each value, as a round.
    private var medians: Round {
        var medians = Round()
        for contender in contenders.map(\.name) {
            for measure in Measure.allCases {
                medians.samples[contender, default: Sample()].values[measure] = spread(measure, of: contender)?.median
            }
        }
        return medians
    }
}
