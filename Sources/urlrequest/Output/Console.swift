import RequestOperations

/// Standard error: messages, and below them the progress of the run.
///
/// Used on one queue, but for ``hurry()``. An error of standard error itself has nowhere to be told and is not; nothing is
/// written after one.
final class Console {
    /// Whether progress is drawn as a bar that is drawn over; otherwise it is told in lines.
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

    /// How many characters fit beside each other.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// From now on, waits a second at most for somebody to read. From any thread.
    func hurry() {
        writer.hurry()
    }

    /// Prints lines, and waits for whoever reads them; a bar gives way to them.
    func print(_ lines: String) {
        clear()
        write(lines)
    }

    /// Draws the bar, over the one that stands; not if that would have to wait, since the next one comes soon.
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
