/// A table as text: the first column to the left, the others to the right.
struct Table: CustomStringConvertible {
    private var rows: [[String]]

    /// Makes a table of its head.
    init(_ head: [String]) {
        rows = [head]
    }

    /// Adds a row, of as many cells as the head has.
    mutating func add(_ row: [String]) {
        rows.append(row)
    }

    var description: String {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }
}
