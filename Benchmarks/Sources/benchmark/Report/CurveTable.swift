/// The curves of a benchmark as comma-separated values (RFC 4180): a line for each second, a column for each contender.
struct CurveTable: CustomStringConvertible {
    private let frame: CurveFrame
    private let curves: [(title: String, values: [Double])]

    /// The table of an outcome; `nil` if it has no curves.
    init?(_ outcome: Outcome) {
        guard let frame = outcome.benchmark.curveFrame else { return nil }
        self.frame = frame
        curves = outcome.curves
    }

    var description: String {
        let count = curves.map(\.values.count).max() ?? 0
        var lines = [(["second"] + curves.map { quoted($0.title) }).joined(separator: ",")]
        for index in 0..<count {
            let cells = curves.map { index < $0.values.count ? String(Int($0.values[index].rounded())) : "" }
            lines.append((["\(frame.start + index)"] + cells).joined(separator: ","))
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func quoted(_ cell: String) -> String {
        cell.contains(where: { ",\"\n".contains($0) })
            ? "\"" + cell.replacing("\"", with: "\"\"") + "\"" : cell
    }
}
