/// An outcome as text: its table, its remarks and its floors.
struct OutcomeText: CustomStringConvertible {
    let outcome: Outcome

    var description: String {
        let benchmark = outcome.benchmark
        let count = outcome.rounds.count
        var text = "\(benchmark.name): \(benchmark.title) (\(count) round\(count == 1 ? "" : "s"))\n\(table)\n"
        let distances = outcome.rounds.map { String($0.processorDistance) }.joined(separator: ", ")
        text += "  processors: \(distances) ns for a cache line there and back\n"
        for remark in remarks { text += "  \(remark)\n" }
        for verdict in outcome.verdicts { text += "  \(VerdictText(verdict: verdict))\n" }
        return text
    }

    /// The main measure comes with its ends, and it and the processor time with their ratio to the first contender.
    private var table: Table {
        let measures = outcome.benchmark.measures.filter { measure in
            outcome.contenders.contains { outcome.spread(measure, of: $0.name) != nil }
        }
        let isCompared = outcome.benchmark.hasRatios && outcome.contenders.count > 1
        let compared = isCompared ? measures.filter { [.rate, .throughput, .cpu, .cpuSeconds].contains($0) } : []
        var head = [""]
        for measure in measures {
            head.append(measure.heading)
            if measure == measures.first { head.append("(least–most)") }
            if compared.contains(measure) { head.append("ratio") }
        }
        var table = Table(head)
        for contender in outcome.contenders {
            var row = [contender.title]
            for measure in measures {
                let spread = outcome.spread(measure, of: contender.name)
                row.append(spread?.median.text(measure.digits) ?? "-")
                if measure == measures.first {
                    row.append(
                        spread.map { "(\($0.minimum.text(measure.digits))–\($0.maximum.text(measure.digits)))" } ?? "")
                }
                if compared.contains(measure) {
                    row.append(outcome.ratio(measure, of: contender.name).map { "× " + $0.median.text(2) } ?? "1")
                }
            }
            table.add(row)
        }
        return table
    }

    /// What the workers of the last round remarked.
    private var remarks: [String] {
        outcome.contenders.flatMap { contender in
            (outcome.rounds.last?.samples[contender.name]?.remarks ?? []).map { "\(contender.title): \($0)" }
        }
    }
}

/// A verdict as a line.
struct VerdictText: CustomStringConvertible {
    let verdict: Verdict

    var description: String {
        let floor = verdict.floor
        let measured =
            verdict.spread.map { "\($0.median.text(3)) (\($0.minimum.text(3))–\($0.maximum.text(3)))" }
            ?? "not measured"
        let aim = floor.aim.map { ", aim \($0)" } ?? ""
        return "\(verdict.isKept ? "✓ kept  " : "✗ MISSED") \(floor.name): \(measured), \(floor.bound)\(aim)"
    }
}

extension Floor.Bound: CustomStringConvertible {
    var description: String {
        switch self {
        case .atLeast(let bound): "at least \(bound)"
        case .atMost(let bound): "at most \(bound)"
        }
    }
}
