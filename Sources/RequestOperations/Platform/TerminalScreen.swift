/// A terminal, or a file in place of one: messages, and below them some rows that are drawn anew in place.
///
/// After an error of the terminal nothing more is written: see ``failure``. It can be used from any thread.
// Unchecked: `rows` and `lost` are used only on `queue`.
package final class TerminalScreen: @unchecked Sendable {
    /// Whether rows can be drawn in place.
    package let isTerminal: Bool

    private let descriptor: Int32
    private let writer: PatientWriter
    private let queue = DispatchQueue(label: "RequestOperations.TerminalScreen")
    private var rows = DrawnRows()
    private var lost: PatientWriter.Failure?

    /// Makes a screen on a descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor. Standard error by default.
    ///   - terminalType: The type of the terminal. That of the environment by default.
    package init(
        _ descriptor: Int32 = STDERR_FILENO, terminalType: String? = ProcessInfo.processInfo.environment["TERM"]
    ) {
        self.descriptor = descriptor
        writer = PatientWriter(to: descriptor)
        isTerminal = isatty(descriptor) == 1 && terminalType != "dumb"
    }

    /// The size of the terminal in characters. 80 × 24 if that is unknown.
    package var size: (width: Int, height: Int) {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Why nothing more is written; `nil` as long as the terminal takes text.
    package var failure: PatientWriter.Failure? { queue.sync { lost } }

    /// From now on, waits at most one second for a reader.
    package func hurry() {
        writer.hurry()
    }

    /// Prints text, and waits until it is read. It removes the rows first.
    package func print(_ text: String) {
        queue.sync { write(rows.clear() + text) }
    }

    /// Draws rows over the former ones, as many as the terminal has room for. It does nothing if it would have to wait, since
    /// the next drawing comes soon. A row that is longer than a line of the terminal breaks the picture.
    package func draw(_ newRows: [String]) {
        queue.sync {
            guard writer.isReady else { return }
            write(rows.draw(Array(newRows.prefix(max(size.height - 1, 1)))))
        }
    }

    /// Removes the rows.
    package func clear() {
        queue.sync { write(rows.clear()) }
    }

    private func write(_ text: String) {
        guard lost == nil, !text.isEmpty else { return }
        lost = writer.write(Data(text.utf8))
    }
}

/// Which rows a terminal shows. A pure value. It returns what must be written.
///
/// The cursor stands at the end of the last row. The sequences are those of ECMA-48: CPL, EL and ED.
package struct DrawnRows {
    package init() {}

    private var shown: [String] = []

    /// Draws rows over the former ones. The same rows need nothing.
    package mutating func draw(_ rows: [String]) -> String {
        guard rows != shown else { return "" }
        defer { shown = rows }
        // The end of each row and all that was below the last one is cleared.
        return toFirstRow + rows.joined(separator: "\u{1B}[K\r\n") + "\u{1B}[J"
    }

    /// Removes all rows.
    package mutating func clear() -> String {
        guard !shown.isEmpty else { return "" }
        defer { shown = [] }
        return toFirstRow + "\u{1B}[J"
    }

    private var toFirstRow: String {
        shown.count > 1 ? "\u{1B}[\(shown.count - 1)F" : "\r"
    }
}
