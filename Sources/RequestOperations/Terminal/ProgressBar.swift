/// Shows how far some work has come, in one line of a terminal.
///
/// ```swift
/// let bar = ProgressBar(ProgressLine("photos", total: 200))
/// for operation in operations {
///     operation.whenFinished { _ in bar.update { $0.completed += 1 } }
/// }
/// try await queue.finished()
/// bar.end()
/// ```
///
/// For a batch, a download or any other operation that reports its progress, ``follow(_:)`` does all of that.
///
/// On a terminal the line is drawn anew in place, at most ten times a second, until ``end()`` removes it. Where there is no
/// terminal, as in a file or with the variable `TERM=dumb`, plain lines are printed at longer intervals.
///
/// A bar does not hold up the work. It leaves out what the terminal does not take at once. To remove the line, it waits one
/// second at most for a terminal that nobody reads. Only ``print(_:)`` waits longer. An error of the terminal ends the drawing. A
/// pipe whose reader has gone is such an error, and does not end the program.
///
/// All members can be used from any thread. A bar that nothing refers to any more is removed.
public final class ProgressBar: Sendable {
    private struct State {
        var line: ProgressLine
        /// How many callers of ``hidden(while:)`` have not returned.
        var hiders = 0
        var hasEnded = false
        /// `nil` if nothing is ever drawn.
        var timer: (any DispatchSourceTimer)?

        var isShown: Bool { !hasEnded && hiders == 0 }
    }

    /// What a bar shows besides its line: further rows of a terminal, and further words of a plain line.
    package struct Details: Sendable {
        package var rows: [String]
        package var words: String

        package init(rows: [String], words: String) { (self.rows, self.words) = (rows, words) }
    }

    private let state: Locked<State>
    private let screen: TerminalScreen
    private let prefix: String
    private let details: (@Sendable () -> Details)?
    private let began = ContinuousClock.now
    private let queue = DispatchQueue(label: "RequestOperations.ProgressBar")
    private let handle: FileHandle?

    /// Makes a bar, which is shown from a tenth of a second later on.
    ///
    /// - Parameters:
    ///   - line: What it shows at first. A count of items without a title by default.
    ///   - handle: The terminal. Standard error by default, so that standard output keeps the results of a program.
    ///   - lineInterval: How often a plain line is printed where there is no terminal. 5 seconds by default. `nil` prints none.
    public convenience init(
        _ line: ProgressLine = ProgressLine(), on handle: FileHandle = .standardError,
        lineInterval: Duration? = .seconds(5)
    ) {
        self.init(line, on: TerminalScreen(handle.fileDescriptor), keeping: handle, lineInterval: lineInterval)
    }

    /// Makes a bar on a screen that others use too.
    ///
    /// - Parameters:
    ///   - line: What it shows at first.
    ///   - screen: Where it is shown.
    ///   - handle: Keeps the descriptor of the screen open.
    ///   - prefix: Begins each plain line.
    ///   - lineInterval: How often a plain line is printed where there is no terminal. `nil` prints none.
    ///   - details: Makes what is shown besides. Called at each drawing, on a queue of the bar.
    package init(
        _ line: ProgressLine, on screen: TerminalScreen, keeping handle: FileHandle? = nil, prefix: String = "",
        lineInterval: Duration?, details: (@Sendable () -> Details)? = nil
    ) {
        var line = line
        line.measure(at: .zero)
        state = Locked(State(line: line))
        self.screen = screen
        (self.prefix, self.details, self.handle) = (prefix, details, handle)
        guard let interval = screen.isTerminal ? .milliseconds(100) : lineInterval else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let period = DispatchTimeInterval.nanoseconds(Int(max(interval, .milliseconds(100)).nanoseconds))
        timer.schedule(deadline: .now() + period, repeating: period, leeway: .milliseconds(20))
        timer.setEventHandler { [weak self] in self?.show() }
        timer.activate()
        state.withLock { $0.timer = timer }
    }

    deinit {
        let (timer, hasEnded) = state.withLock { ($0.timer, $0.hasEnded) }
        timer?.cancel()
        if !hasEnded { screen.clear() }
    }

    /// Changes what is shown, from the next drawing on.
    ///
    /// - Parameter change: Changes the line. It is called once, before this returns, and must not call the bar.
    public func update(_ change: (inout ProgressLine) -> Void) {
        state.withLock { change(&$0.line) }
    }

    /// Shows how far an operation has come until it has ended, and then removes the bar.
    ///
    /// ```swift
    /// let batch = RequestBatch(operations)
    /// queue.addOperation(batch)
    /// await ProgressBar(ProgressLine("photos")).follow(batch.progressUpdates)
    /// ```
    ///
    /// It returns earlier if the Task is cancelled. That does not cancel the operation.
    ///
    /// - Parameter updates: The `progressUpdates` of a request, a download, an upload, a batch, a group or a chain. A request
    ///   counts bytes, so its line has ``ProgressLine/Unit/bytes``.
    public func follow(_ updates: AsyncStream<ProgressUpdate>) async {
        for await update in updates { self.update { $0.take(update) } }
        end()
    }

    /// Prints text above the line, with a line end.
    ///
    /// It waits until the terminal has taken the text, without a limit. After ``end()`` it prints as well.
    public func print(_ text: String) {
        screen.print(text + "\n")
    }

    /// Removes the line while something else writes to the same terminal, such as the results of a program.
    ///
    /// The line stays if the terminal does not take its removal within one second.
    ///
    /// - Parameter body: Writes to the terminal. It is called once, before this returns.
    /// - Returns: What the closure returns.
    public func hidden<Result>(while body: () throws -> Result) rethrows -> Result {
        state.withLock { $0.hiders += 1 }
        screen.clear()
        defer { state.withLock { $0.hiders -= 1 } }
        return try body()
    }

    /// Removes the line for good. A second call does nothing.
    ///
    /// The line stays if the terminal does not take its removal within one second.
    public func end() {
        let timer = state.withLock { state in
            state.hasEnded = true
            return state.timer.take()
        }
        timer?.cancel()
        screen.clear()
    }

    private func show() {
        let moment = began.duration(to: .now)
        let line: ProgressLine? = state.withLock { state in
            guard state.isShown else { return nil }
            state.line.measure(at: moment)
            return state.line
        }
        guard let line else { return }
        // Who hides or ends the bar clears the screen after that. So what is drawn before is cleared, and nothing is drawn after.
        let isShown = { self.state.withLock { $0.isShown } }
        let details = details?()
        if screen.isTerminal {
            let width = screen.size.width
            let rows = details?.rows.map { String($0.prefix(max(width - 1, 0))) } ?? []
            screen.draw([line.text(width: width)] + rows, if: isShown)
        } else {
            screen.printAtOnce("\(prefix)\(line.sentence)\(details?.words ?? "")\n", if: isShown)
        }
    }
}
