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
