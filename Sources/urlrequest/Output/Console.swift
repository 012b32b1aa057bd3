import RequestOperations

/// Standard error: messages, and below them the progress of the run.
///
/// Used on one queue. An error of standard error itself has nowhere to be told and is not.
final class Console {
    /// Whether progress is drawn as a bar that is drawn over; otherwise it is told in lines.
    let isTerminal: Bool

    private let descriptor: Int32
    private var hasBar = false

    /// Makes a console on a descriptor.
    init(_ descriptor: Int32 = STDERR_FILENO, terminalType: String? = ProcessInfo.processInfo.environment["TERM"]) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1 && terminalType != "dumb"
    }

    /// How many characters fit beside each other.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Prints lines; a bar gives way to them.
    func print(_ lines: String) {
        clear()
        write(lines)
    }

    /// Draws the bar, over the one that stands.
    func draw(_ bar: String) {
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
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
