/// How far some work has come, as one line for a terminal or for a log. A pure value: it writes nothing, and times are passed
/// in.
///
/// ```swift
/// var line = ProgressLine("photos", total: 200)
/// line.completed = 50
/// line.notes = ["2 failed"]
/// print(line.text(width: 80))  // [███████·····…] photos  50 of 200  2 failed
/// ```
///
/// A ``ProgressBar`` shows one on a terminal.
public struct ProgressLine: Sendable {
    /// What is counted.
    public enum Unit: Sendable, Hashable {
        /// Things, such as requests: `50 of 200`.
        case items
        /// Bytes, in units of 1000: `500 kB of 2.00 MB`.
        case bytes
    }

    /// What the work is called. A terminal that is too narrow shows the end of it. Empty by default.
    public var title: String

    /// What is counted.
    public var unit: Unit

    /// How much is done.
    public var completed: Int64

    /// How much there is to do; `nil` while it is unknown. Then there is no bar.
    public var total: Int64?

    /// What else is shown, such as `2 failed`, in this order. Empty by default.
    public var notes: [String] = []

    /// The done parts of members that run, in members.
    private var running = 0.0
    private var meter = ThroughputMeter()

    /// Makes a line.
    ///
    /// - Parameters:
    ///   - title: What the work is called. Empty by default.
    ///   - unit: What is counted. ``Unit/items`` by default.
    ///   - completed: How much is done. 0 by default.
    ///   - total: How much there is to do. `nil`, the default, means that this is unknown.
    public init(_ title: String = "", unit: Unit = .items, completed: Int64 = 0, total: Int64? = nil) {
        (self.title, self.unit, self.completed, self.total) = (title, unit, completed, total)
    }

    /// Takes over how far an operation has come.
    package mutating func take(_ update: ProgressUpdate) {
        (completed, total, running) = (update.completed, update.total, update.running)
    }

    /// Notes how much is completed at a moment. The ``rate`` follows from several calls, such as ten each second.
    ///
    /// - Parameter moment: The time since any fixed moment. A moment before the last one starts the measurement again.
    package mutating func measure(at moment: Duration) {
        meter.note(completed, at: moment)
    }

    /// How much was completed per second, over the last 5 seconds. `nil` until ``measure(at:)`` was called twice.
    package var rate: Double? { meter.perSecond }

    /// The part that is done, from 0 to 1. `nil` while the total is unknown.
    package var fraction: Double? {
        var update = ProgressUpdate(completed: completed, total: total)
        update.running = running
        return update.fraction
    }

    /// The line for a terminal: a bar if there is room for one, then the title and the figures.
    ///
    /// A ``ProgressBar`` adds the rate of the last 5 seconds and the time left. Control characters of the title and the notes are
    /// shown as `?`, so that no text moves the cursor.
    ///
    /// - Parameter width: How many characters the terminal has in a row. The line is at least one shorter, since some terminals
    ///   begin another row after the last column.
    public func text(width: Int) -> String {
        let room = max(width - 1, 0)
        let figures = figures.joined(separator: "  ")
        let titleRoom = min(title.count, room - figures.count - 2)
        let shown = titleRoom > 0 ? "\(printable(String(title.suffix(titleRoom))))  \(figures)" : figures
        let text = String(shown.prefix(room))
        let bar = min(room - text.count - 3, 40)
        guard let fraction, total != 0, bar >= 10 else { return text }
        let filled = Int(fraction * Double(bar))
        return "[\(String(repeating: "█", count: filled))\(String(repeating: "·", count: bar - filled))] \(text)"
    }

    /// The line for a log, without a bar and without a line end.
    package var sentence: String {
        (title.isEmpty ? "" : "\(printable(title)): ") + figures.joined(separator: ", ")
    }

    private var figures: [String] {
        var figures: [String]
        switch unit {
        case .items:
            figures = [total.map { "\(completed) of \($0)" } ?? "\(completed) done"]
            if let rate, rate >= 0.005 { figures.append("\(threeDigits(rate))/s") }
        case .bytes:
            figures = [
                total.map { "\(readable(bytes: completed)) of \(readable(bytes: $0))" } ?? readable(bytes: completed)
            ]
            if let rate, rate >= 1, rate < 1e18 { figures.append("\(readable(bytes: Int64(rate)))/s") }
        }
        figures += notes.map(printable)
        if let secondsLeft { figures.append("\(clock(secondsLeft)) left") }
        return figures
    }

    /// `nil` if it is unknown or very long.
    private var secondsLeft: Int? {
        guard let total, total > completed, let rate, rate > 0 else { return nil }
        let seconds = (Double(total - completed) / rate).rounded(.up)
        return seconds < 1e8 ? Int(seconds) : nil
    }

    private func printable(_ text: String) -> String {
        String(text.map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "?" : $0 })
    }

    /// A time as `0:15` or `1:01:01`.
    private func clock(_ seconds: Int) -> String {
        let twoDigits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        return hours > 0
            ? "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds % 60))" : "\(minutes):\(twoDigits(seconds % 60))"
    }
}
