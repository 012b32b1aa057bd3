/// The outcomes of checking many expectations of one transport, and the capabilities that it declares to lack.
public struct TransportReport: Sendable, CustomStringConvertible {
    /// The outcome of each expectation.
    public let outcomes: [TransportOutcome]

    /// The capabilities that the transport declares to lack, each with the reason.
    public let lacking: [TransportCapability: String]

    /// Makes a report.
    public init(_ outcomes: [TransportOutcome], lacking: [TransportCapability: String]) {
        self.outcomes = outcomes
        self.lacking = lacking
    }

    /// The faults, one sentence each. Empty if the transport conforms.
    ///
    /// There are two faults. An expectation was missed, and its capability was not declared as lacking. Or a capability
    /// was declared as lacking, and all its expectations were met.
    public var faults: [String] {
        let undeclared = outcomes.filter { $0.miss != nil && lacking[$0.expectation.capability] == nil }
        return undeclared.map(\.description) + staleDeclarations
    }

    private var staleDeclarations: [String] {
        let missed = Set(outcomes.filter { $0.miss != nil }.map(\.expectation.capability))
        let checked = Set(outcomes.map(\.expectation.capability))
        return lacking.filter { checked.contains($0.key) && !missed.contains($0.key) }
            .map { "declared as lacking, and yet there: \($0.key) (\($0.value))" }.sorted()
    }

    /// One line for each fault, and a last line with the counts.
    public var description: String {
        let met = outcomes.count { $0.miss == nil }
        let lines =
            faults + ["\(met) of \(outcomes.count) met, \(lacking.count) declared as lacking, \(faults.count) faults"]
        return lines.joined(separator: "\n")
    }
}
