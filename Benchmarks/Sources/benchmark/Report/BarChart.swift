import Foundation

/// The main measure of each benchmark as bars, in an SVG that is readable on a light and on a dark page.
struct BarChart: CustomStringConvertible {
    private let outcomes: [Outcome]

    // All lengths are in user units, of which a character is about 7.
    private let width = 820
    private let barStart = 300
    private let barLength = 300
    private let rowHeight = 22
    private let titleHeight = 34

    init(_ outcomes: [Outcome]) {
        self.outcomes = outcomes.filter(\.benchmark.isDrawn)
    }

    var description: String {
        var panels = ""
        var top = 10
        for outcome in outcomes {
            panels += panel(outcome, top: top)
            top += titleHeight + rowHeight * contenders(of: outcome).count + 12
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(top)" viewBox="0 0 \(width) \(top)" \
            role="img" aria-label="Rates of HTTP clients">
            <style>
            text { font: 13px system-ui, sans-serif; fill: #555; }
            .title { font-weight: 600; font-size: 14px; fill: #333; }
            .bar { fill: #8a94a6; }
            .ours { fill: #e0702c; }
            @media (prefers-color-scheme: dark) { text { fill: #aaa; } .title { fill: #ddd; } }
            </style>
            \(panels)</svg>

            """
    }

    private func panel(_ outcome: Outcome, top: Int) -> String {
        let benchmark = outcome.benchmark
        guard let measure = benchmark.measures.first else { return "" }
        let contenders = contenders(of: outcome)
        let medians = contenders.map { outcome.spread(measure, of: $0.name)?.median ?? 0 }
        let longest = medians.max() ?? 1
        let unit = measure == .rate ? "requests/s" : measure.heading
        var panel = """
            <text class="title" x="10" y="\(top + 20)">\(escaped(benchmark.title)) (\(unit), median of \
            \(outcome.rounds.count))</text>

            """
        for (index, contender) in contenders.enumerated() {
            let y = top + titleHeight + rowHeight * index
            let length = Int((medians[index] / longest * Double(barLength)).rounded())
            let ratio = outcome.ratio(measure, of: contender.name).map { "  × \($0.median.text(2))" } ?? ""
            let isOurs = contender.name == ClientKind.operation.rawValue
            panel += """
                <text x="\(barStart - 8)" y="\(y + 14)" text-anchor="end">\(escaped(contender.title))</text>
                <rect class="bar\(isOurs ? " ours" : "")" x="\(barStart)" y="\(y + 2)" width="\(max(length, 1))" \
                height="\(rowHeight - 6)" rx="2"/>
                <text x="\(barStart + length + 8)" y="\(y + 14)">\(medians[index].text(0))\(ratio)</text>

                """
        }
        return panel
    }

    private func contenders(of outcome: Outcome) -> [Contender] {
        outcome.contenders.filter(\.isDrawn)
    }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
