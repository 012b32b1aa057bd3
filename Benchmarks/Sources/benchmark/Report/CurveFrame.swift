/// What the curves of a benchmark show, each a value for each second.
struct CurveFrame {
    /// What a value is.
    let unit: String
    /// The second of the first value.
    let start: Int
    /// The seconds that are set apart.
    let band: Range<Int>
    /// What they are, in words.
    let bandTitle: String
}

extension Outcome {
    /// The curves of those contenders that have one, in the last round.
    var curves: [(title: String, values: [Double])] {
        contenders.compactMap { contender in
            rounds.last?.samples[contender.name]?.curve.map { (contender.title, $0) }
        }
    }
}
