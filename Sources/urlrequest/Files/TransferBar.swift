import RequestOperations

/// How far the transfer of one file has come.
struct TransferBar {
    /// The name of the file, or its URL.
    let name: String

    /// The bytes that have been transferred, those of earlier attempts included.
    var completed: Int64 = 0

    /// The bytes of the whole file; `nil` while the number is unknown.
    var total: Int64?

    /// How many bytes came per second, recently.
    var rate = 0.0

    /// The line for a terminal, at most `width` characters wide.
    func line(width: Int) -> String {
        let figures = figures.joined(separator: "  ")
        // The last column stays empty, since some terminals would begin another line.
        let room = max(width - 1, 0)
        let nameRoom = max(min(name.count, room - figures.count - 2), 0)
        let text = String("\(name.suffix(nameRoom))  \(figures)".prefix(room))
        guard let total, let bar = progressBar(Int(clamping: completed), of: Int(clamping: total), beside: text, width)
        else { return text }
        return "\(bar) \(text)"
    }

    private var figures: [String] {
        var figures = [
            total.map { "\(readable(bytes: completed)) of \(readable(bytes: $0))" } ?? readable(bytes: completed)
        ]
        if rate >= 1, rate < 1e18 { figures.append("\(readable(bytes: Int64(rate)))/s") }
        if let timeLeft { figures.append("\(clock(timeLeft)) left") }
        return figures
    }

    private var timeLeft: Int? {
        guard let total, total > completed else { return nil }
        return secondsLeft(for: Double(total - completed), at: rate)
    }
}
