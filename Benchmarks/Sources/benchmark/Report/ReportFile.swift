import Foundation

/// The results as JSON.
struct ReportFile: Encodable {
    fileprivate struct Entry: Encodable {
        let name: String
        let title: String
        let contenders: [Line]
        let floors: [FloorEntry]
        let rounds: [Round]
    }

    fileprivate struct Line: Encodable {
        let name: String
        let title: String
        let spreads: [Measure: Spread]
        /// Those of the ratios to the first contender.
        let ratios: [Measure: Spread]
    }

    fileprivate struct FloorEntry: Encodable {
        let name: String
        let bound: String
        let aim: Double?
        let measured: Spread?
        let isKept: Bool
    }

    private let machine: Machine
    private let loadAverage: [String]
    private let isQuick: Bool
    private let benchmarks: [Entry]

    init(_ outcomes: [Outcome], machine: Machine, loadAverage: [String], isQuick: Bool) {
        self.machine = machine
        self.loadAverage = loadAverage
        self.isQuick = isQuick
        benchmarks = outcomes.map { outcome in
            Entry(
                name: outcome.benchmark.name, title: outcome.benchmark.title,
                contenders: outcome.contenders.map { Line(outcome, $0) },
                floors: outcome.verdicts.map { FloorEntry($0) },
                rounds: outcome.rounds)
        }
    }

    /// Writes it.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}

extension ReportFile.Line {
    init(_ outcome: Outcome, _ contender: Contender) {
        func all(_ spread: (Measure) -> Spread?) -> [Measure: Spread] {
            Dictionary(
                uniqueKeysWithValues: outcome.benchmark.measures.compactMap { measure in
                    spread(measure).map { (measure, $0) }
                })
        }
        name = contender.name
        title = contender.title
        spreads = all { outcome.spread($0, of: contender.name) }
        ratios = all { outcome.ratio($0, of: contender.name) }
    }
}

extension ReportFile.FloorEntry {
    init(_ verdict: Verdict) {
        name = verdict.floor.name
        bound = verdict.floor.bound.description
        aim = verdict.floor.aim
        measured = verdict.spread
        isKept = verdict.isKept
    }
}
