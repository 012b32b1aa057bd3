/// The middle and the ends of the values of several rounds.
struct Spread: Codable, Sendable {
    let median: Double
    let minimum: Double
    let maximum: Double

    /// The spread of some values; `nil` if there are none.
    init?(_ values: [Double]) {
        let sorted = values.filter { !$0.isNaN }.sorted()
        guard let first = sorted.first, let last = sorted.last else { return nil }
        median = sorted.quantile(0.5)
        minimum = first
        maximum = last
    }
}

extension [Double] {
    /// The value below which a share of the values lies, of a sorted array that is not empty; between two values their
    /// mean by distance.
    func quantile(_ share: Double) -> Double {
        let position = share * Double(count - 1)
        let lower = Int(position)
        let upper = Swift.min(lower + 1, count - 1)
        return self[lower] + (self[upper] - self[lower]) * (position - Double(lower))
    }
}
