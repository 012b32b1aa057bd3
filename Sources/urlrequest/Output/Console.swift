import RequestOperations

/// Standard error: messages, and below them the progress of the run.
///
/// It is used on one queue, except for ``hurry()``. An error of standard error itself cannot be reported, so it is not.
/// After such an error nothing more is written.
final class Console {
    /// Whether progress is shown as a bar that is redrawn in place. Otherwise it is printed in lines.
    let isTerminal: Bool

    private let descriptor: Int32
    private let writer: PatientWriter
    private var isLost = false
    private var hasBar = false

    /// Makes a console on a descriptor.
    init(_ descriptor: Int32 = STDERR_FILENO, terminalType: String? = ProcessInfo.processInfo.environment["TERM"]) {
        self.descriptor = descriptor
        writer = PatientWriter(to: descriptor)
        isTerminal = isatty(descriptor) == 1 && terminalType != "dumb"
    }

    /// The width of the terminal in characters.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// From now on, waits at most one second for a reader. May be called on any thread.
    func hurry() {
        writer.hurry()
    }

    /// Prints lines, and waits until they are read. It removes the bar first.
    func print(_ lines: String) {
        clear()
        write(lines)
    }

    /// Draws the bar over the old bar. It does nothing if it would have to wait, since the next bar comes soon.
    func draw(_ bar: String) {
        guard writer.isReady else { return }
        write("\r\(bar)\u{1B}[K")
        hasBar = true
    }

    /// Removes the bar.
    func clear() {
        guard hasBar else { return }
        write("\r\u{1B}[K")
        hasBar = false
    }

    private func write(_ text: String) {
        guard !isLost else { return }
        isLost = Array(text.utf8).withUnsafeBytes(writer.write) != nil
    }
}

/// The progress of a run.
struct ProgressLine {
    /// The requests that have ended.
    var done = 0
    var failed = 0
    var retries = 0

    /// The total number of requests. It is known, or estimated from the part of the input that was read. Otherwise
    /// `nil`.
    var total: Int?

    /// How many requests ended per second, recently.
    var rate = 0.0

    /// The line for a terminal, at most `width` characters wide.
    func bar(width: Int) -> String {
        let text = figures.joined(separator: "  ")
        guard let total, let bar = progressBar(done, of: total, beside: text, width) else {
            return String(text.prefix(max(width - 1, 0)))
        }
        return "\(bar) \(text)"
    }

    /// The line for a log.
    var sentence: String { "urlrequest: \(figures.joined(separator: ", "))\n" }

    private var figures: [String] {
        var figures = [
            total.map { "\(done) of \($0)" } ?? "\(done) done", "\(readable(rate: rate))/s", "\(failed) failed",
            "\(retries) \(retries == 1 ? "retry" : "retries")",
        ]
        if let timeLeft { figures.append("\(clock(timeLeft)) left") }
        return figures
    }

    private var timeLeft: Int? {
        guard let total, total > done else { return nil }
        return secondsLeft(for: Double(total - done), at: rate)
    }
}

/// A bar that is filled in part. `nil` if a text leaves no room for it on a line of `width` characters, or `total` is 0.
func progressBar(_ done: Int, of total: Int, beside text: String, _ width: Int) -> String? {
    // The last column stays empty, since some terminals would begin another line.
    let room = min(width - 1 - text.count - 3, 40)
    guard total > 0, room >= 10 else { return nil }
    let filled = Int(min(Double(done) / Double(total), 1) * Double(room))
    return "[\(String(repeating: "█", count: filled))\(String(repeating: "·", count: room - filled))]"
}

/// How long an amount takes at a rate per second. `nil` if that is unknown or very long.
func secondsLeft(for amount: Double, at rate: Double) -> Int? {
    guard rate > 0, amount / rate < 1e8 else { return nil }
    return Int((amount / rate).rounded(.up))
}

/// A time as `0:15` or `1:01:01`.
func clock(_ seconds: Int) -> String {
    let twoDigits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return hours > 0
        ? "\(hours):\(twoDigits(minutes)):\(twoDigits(seconds % 60))" : "\(minutes):\(twoDigits(seconds % 60))"
}

/// The rate at which a count grew over the last seconds.
struct RecentRate {
    private var samples: [(time: Duration, count: Int)] = [(.zero, 0)]
    private let span: Duration

    init(over span: Duration = .seconds(5)) {
        self.span = span
    }

    /// Takes a sample and returns the growth per second since the oldest sample within the span. `time` must not be
    /// before the time of the last sample.
    mutating func sample(_ count: Int, at time: Duration) -> Double {
        samples.append((time, count))
        while samples.count > 2, samples[1].time <= time - span { samples.removeFirst() }
        let passed = (time - samples[0].time).inSeconds
        return passed > 0 ? Double(count - samples[0].count) / passed : 0
    }
}
