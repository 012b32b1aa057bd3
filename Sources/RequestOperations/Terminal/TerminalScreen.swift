/// A terminal, or a file in place of one: messages, and below them some rows that are drawn anew in place.
///
/// After an error of the terminal nothing more is written: see ``failure``. It can be used from any thread.
///
/// Only ``print(_:)`` waits for a reader without a limit. The others wait ``patience`` at most.
// Unchecked: `rows` and `lost` are used only under `lock`.
package final class TerminalScreen: @unchecked Sendable {
    /// Whether rows can be drawn in place.
    package let isTerminal: Bool

    private let descriptor: Int32
    private let writer: PatientWriter
    /// Held while something is written. A lock, because a queue cannot be waited for with a time limit.
    private let lock = NSLock()
    private var rows = DrawnRows()
    private var lost: PatientWriter.Failure?

    /// How long a row waits for a reader: one second.
    private static let patience = Duration.seconds(1)

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
    package var failure: PatientWriter.Failure? { lock.withLock { lost } }

    /// From now on, ``print(_:)`` waits at most one second for a reader.
    package func hurry() {
        writer.hurry()
    }

    /// Prints text, and waits until it is read. It removes the rows first.
    package func print(_ text: String) {
        while !lock.lock(before: Date(timeIntervalSinceNow: 0.1)) {
            // A drawing that the terminal has taken in part holds the lock. Nothing would be printed in time.
            guard !writer.isLate else { return }
        }
        defer { lock.unlock() }
        write(rows.clear() + text)
    }

    /// Prints text if the screen takes it at once. Otherwise it prints nothing.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - isWanted: Whether it is still wanted. Called at most once, while nothing else is written.
    package func printAtOnce(_ text: String, if isWanted: () -> Bool) {
        atOnce(if: isWanted) { rows.clear() + text }
    }

    /// Draws rows over the former ones, as many as the terminal has room for. If it would have to wait, it does nothing,
    /// since the next drawing comes soon.
    ///
    /// - Parameters:
    ///   - newRows: The rows.
    ///   - isWanted: Whether they are still wanted. Called at most once, while nothing else is written.
    package func draw(_ newRows: [String], if isWanted: () -> Bool = { true }) {
        atOnce(if: isWanted) { rows.draw(Array(newRows.prefix(max(size.height - 1, 1)))) }
    }

    private func atOnce(if isWanted: () -> Bool, _ text: () -> String) {
        guard lock.try() else { return }
        defer { lock.unlock() }
        guard writer.isReady, isWanted() else { return }
        write(text(), by: .now + Self.patience)
    }

    /// Removes the rows. If the terminal does not take that within a second, they stay until something else is written.
    package func clear() {
        let deadline = ContinuousClock.now + Self.patience
        guard lock.lock(before: Date(timeIntervalSinceNow: Self.patience.inSeconds)) else { return }
        defer { lock.unlock() }
        guard !rows.isEmpty, writer.isReady(by: deadline) else { return }
        write(rows.clear(), by: deadline)
    }

    private func write(_ text: String, by deadline: ContinuousClock.Instant? = nil) {
        guard lost == nil, !text.isEmpty else { return }
        lost = writer.write(Data(text.utf8), by: deadline)
    }
}

/// Which rows a terminal shows. A pure value. It returns what must be written.
///
/// The cursor stands at the end of the last row. The sequences are those of ECMA-48: CPL, EL and ED.
package struct DrawnRows {
    package init() {}

    private var shown: [String] = []

    /// Whether none is shown.
    package var isEmpty: Bool { shown.isEmpty }

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
