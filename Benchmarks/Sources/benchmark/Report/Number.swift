import Foundation

extension Double {
    /// The number with so many digits after the point, and its thousands set apart.
    func text(_ digits: Int) -> String {
        guard isFinite else { return "-" }
        let plain = String(format: "%.\(digits)f", self)
        guard abs(self) >= 10_000 else { return plain }
        let parts = plain.split(separator: ".", maxSplits: 1)
        let whole = parts[0]
        var grouped = ""
        for (index, digit) in whole.enumerated() {
            if index > 0, digit.isNumber, (whole.count - index) % 3 == 0, grouped != "-" { grouped.append(",") }
            grouped.append(digit)
        }
        return parts.count > 1 ? "\(grouped).\(parts[1])" : grouped
    }
}
