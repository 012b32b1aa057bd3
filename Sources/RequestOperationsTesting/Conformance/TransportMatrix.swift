/// A page of Markdown that compares what several transports can do.
///
/// It uses what the transports declare. The suite checks that the declarations are true.
public struct TransportMatrix: Sendable {
    /// One transport of the table.
    public struct Column: Sendable {
        /// The name at the head of the column.
        public let name: String

        /// The capabilities that the transport lacks, each with the reason.
        public let lacking: [TransportCapability: String]

        /// Makes a column.
        public init(_ name: String, lacking: [TransportCapability: String]) {
            self.name = name
            self.lacking = lacking
        }
    }

    /// The transports, from left to right.
    public let columns: [Column]

    /// The expectations whose capabilities are listed, in order.
    public let expectations: [TransportExpectation]

    /// Makes a table.
    ///
    /// - Parameters:
    ///   - columns: The transports, from left to right.
    ///   - expectations: The expectations whose capabilities are listed. All by default.
    public init(_ columns: [Column], expectations: [TransportExpectation] = TransportConformance.expectations) {
        self.columns = columns
        self.expectations = expectations
    }

    /// One table for each subject, then the reasons for what each transport lacks. Ends with a newline.
    public var markdown: String {
        let tables = subjects.map { "## \($0)\n\n" + table(of: $0) }
        let reasons = columns.compactMap(reasons)
        return (tables + reasons).joined(separator: "\n")
    }

    /// The capabilities that at least one expectation belongs to, each once.
    private var capabilities: [TransportCapability] {
        var seen: Set<TransportCapability> = []
        return expectations.map(\.capability).filter { seen.insert($0).inserted }
    }

    private var subjects: [String] {
        var seen: Set<String> = []
        return capabilities.map(\.subject).filter { seen.insert($0).inserted }
    }

    private func table(of subject: String) -> String {
        var lines = [["", "Proofs"] + columns.map(\.name), ["---", "---:"] + columns.map { _ in ":---:" }]
        for capability in capabilities where capability.subject == subject {
            let count = expectations.count { $0.capability == capability }
            let cells = columns.map { $0.lacking[capability] == nil ? "yes" : "**no**" }
            lines.append([capability.description, String(count)] + cells)
        }
        return lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }

    private func reasons(for column: Column) -> String? {
        let lines = capabilities.compactMap { capability in
            column.lacking[capability].map { "- \(capability): \($0)\n" }
        }
        guard !lines.isEmpty else { return nil }
        return "## What \(column.name) lacks, and why\n\n" + lines.joined()
    }
}
