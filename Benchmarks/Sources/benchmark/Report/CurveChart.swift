/// The curves of a benchmark as lines, in an SVG that is readable on a light and on a dark page.
struct CurveChart: CustomStringConvertible {
    private let title: String
    private let frame: CurveFrame
    private let curves: [(title: String, values: [Double])]

    // All lengths are in user units, of which a character is about 7.
    private let width = 770
    private let height = 340
    private let plot = (left: 70, right: 745, top: 62, bottom: 300)

    /// The chart of an outcome; `nil` if it has no curves.
    init?(_ outcome: Outcome) {
        guard let frame = outcome.benchmark.curveFrame else { return nil }
        title = outcome.benchmark.title
        self.frame = frame
        curves = outcome.curves
    }

    var description: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
        role="img" aria-label="\(escaped(title))">
        <style>
        text { font: 12px system-ui, sans-serif; fill: #555; }
        .band { fill: #d33; opacity: 0.09; }
        .grid { stroke: #888; opacity: 0.3; }
        polyline { fill: none; stroke-width: 1.8; stroke-linejoin: round; }
        .c0 { stroke: #d9601a; } .c1 { stroke: #5b6b8c; } .c2 { stroke: #2a8f6d; } .c3 { stroke: #8a5bb0; }
        @media (prefers-color-scheme: dark) {
        text { fill: #b5b5b5; }
        .c0 { stroke: #f2894b; } .c1 { stroke: #93a5cc; } .c2 { stroke: #4fc39a; } .c3 { stroke: #b98fdd; }
        }
        </style>
        \(band)\(grid)\(lines)\(legend)</svg>

        """
    }

    // MARK: Parts

    private var band: String {
        let (left, right) = (x(Double(frame.band.lowerBound)), x(Double(frame.band.upperBound)))
        return """
            <rect class="band" x="\(left.text(1))" y="\(plot.top)" width="\((right - left).text(1))" \
            height="\(plot.bottom - plot.top)"/>
            <text x="\(((left + right) / 2).text(1))" y="\(plot.top + 16)" text-anchor="middle">\
            \(escaped(frame.bandTitle))</text>

            """
    }

    private var grid: String {
        var grid = "<text x=\"\(plot.left - 58)\" y=\"\(plot.top - 12)\">\(escaped(frame.unit))</text>\n"
        for value in stride(from: 0, through: highest, by: step(for: highest, lines: 5)) {
            let height = y(value).text(1)
            grid += """
                <line class="grid" x1="\(plot.left)" x2="\(plot.right)" y1="\(height)" y2="\(height)"/>
                <text x="\(plot.left - 8)" y="\((y(value) + 4).text(1))" text-anchor="end">\(value.text(0))</text>

                """
        }
        let ticks = step(for: Double(seconds), lines: 8)
        let first = (Double(frame.start) / ticks).rounded(.up) * ticks
        for second in stride(from: first, through: Double(frame.start + seconds), by: ticks) {
            grid += """
                <text x="\(x(second).text(1))" y="\(plot.bottom + 18)" text-anchor="middle">\((second + 0).text(0)) s</text>

                """
        }
        return grid
    }

    private var lines: String {
        // The first, which is the one to be seen, comes last and lies above the others.
        curves.enumerated().reversed().map { index, curve in
            // A value is that of a whole second, and stands in its middle.
            let points = curve.values.enumerated().map { offset, value in
                "\(x(Double(frame.start + offset) + 0.5).text(1)),\(y(value).text(1))"
            }
            return "<polyline class=\"c\(index)\" points=\"\(points.joined(separator: " "))\"/>\n"
        }.joined()
    }

    private var legend: String {
        var left = plot.left
        return curves.enumerated().map { index, curve in
            defer { left += 44 + 7 * curve.title.count }
            return """
                <polyline class="c\(index)" points="\(left),18 \(left + 22),18"/>
                <text x="\(left + 28)" y="22">\(escaped(curve.title))</text>

                """
        }.joined()
    }

    // MARK: Scales

    private var seconds: Int { curves.map(\.values.count).max() ?? 1 }

    /// The largest value, up to the next line of the grid.
    private var highest: Double {
        let largest = max(curves.flatMap(\.values).max() ?? 1, 1)
        let step = step(for: largest, lines: 5)
        return (largest / step).rounded(.up) * step
    }

    /// One, two or five times a power of ten, for not many more than so many lines.
    private func step(for length: Double, lines: Double) -> Double {
        var power = 1.0
        while true {
            for step in [power, 2 * power, 5 * power] where step * lines >= length { return step }
            power *= 10
        }
    }

    private func x(_ second: Double) -> Double {
        let share = (second - Double(frame.start)) / Double(seconds)
        return Double(plot.left) + share * Double(plot.right - plot.left)
    }

    private func y(_ value: Double) -> Double {
        Double(plot.bottom) - value / highest * Double(plot.bottom - plot.top)
    }

    private func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    }
}
