import RequestOperations

/// Transfers files one after the other, and shows how far each has come.
// Unchecked: the console is used only on `screen`, and the rest has a lock.
final class FileRun: @unchecked Sendable {
    private struct State {
        /// The transfer that runs.
        var current: Operation?
        var stopped: StopReason?
        var failures = 0
    }

    /// The bar of a transfer.
    private struct Shown {
        var bar: TransferBar
        var rate = RecentRate()
    }

    private let transport: any Transport
    private let showsProgress: Bool
    private let reports: Reports
    private let queue = OperationQueue()
    private let screen = DispatchQueue(label: "urlrequest.FileRun")
    private let console = Console()
    private let state = Locked(State())
    private let began = ContinuousClock.now

    /// Makes a run.
    ///
    /// - Parameters:
    ///   - transport: The transport of all transfers. The end of the run ends it.
    ///   - showsProgress: Whether a bar is shown on a terminal.
    ///   - reports: The reports that the end of the run writes.
    init(over transport: any Transport, showsProgress: Bool, _ reports: Reports) {
        self.transport = transport
        self.showsProgress = showsProgress
        self.reports = reports
    }

    /// Runs transfers, until a signal comes. Returns the exit status.
    ///
    /// - Parameter transfers: Makes the transfers by calls of ``transfer(named:_:)``.
    func run(_ transfers: (FileRun) async -> Void) async -> Int32 {
        let signals = SignalWatch { [self] signal in
            stop(.signal(signal))
        } again: { signal in
            _exit(ExitStatus.signal(signal))
        }
        await transfers(self)
        await TransportChoice.shutDown(transport)
        if !reports.write(saying: say) { state.withLock { $0.failures += 1 } }
        signals.end()
        let state = state.withLock { $0 }
        return switch state.stopped {
        case .signal(let number): ExitStatus.signal(number)
        case .outputClosed: ExitStatus.outputClosed
        case .outputFailed: ExitStatus.failure
        case nil: state.failures > 0 ? ExitStatus.failure : ExitStatus.success
        }
    }

    /// Runs one transfer, and prints its line on standard output, or its error on standard error.
    ///
    /// - Parameters:
    ///   - name: What it is called on the screen.
    ///   - work: Does it by calls of ``value(of:named:)``. Returns the line of a success; `nil` for none.
    func transfer(named name: String, _ work: () async throws -> String?) async {
        guard !isStopped else { return }
        do {
            if let line = try await work() {
                printOut { () throws(PatientWriter.Failure) in try StandardOutput.print(line) }
            }
        } catch {
            state.withLock { $0.failures += 1 }
            if let failure = (error as? RequestError)?.underlying as? PatientWriter.Failure {
                return printOut { () throws(PatientWriter.Failure) in throw failure }
            }
            // After a signal it needs no message.
            guard !isStopped else { return }
            say("\(name): \(toolText(error))")
        }
    }

    /// Runs a request of a transfer, and shows its progress. Returns its value.
    func value<Value: Sendable>(of operation: URLRequestOperation<Value>, named name: String) async throws -> Value {
        let isStopped = state.withLock { state in
            state.current = operation
            return state.stopped != nil
        }
        guard !isStopped else { throw CancellationError() }
        let timer = showsProgress && console.isTerminal ? bar(named: name, of: operation.progress) : nil
        defer { removeBar(timer) }
        queue.addOperation(operation)
        return try await operation.value
    }

    /// Prints a message on standard error.
    func say(_ message: String) {
        screen.sync { console.print("urlrequest: \(message)\n") }
    }

    private var isStopped: Bool { state.withLock { $0.stopped != nil } }

    private func removeBar(_ timer: (any DispatchSourceTimer)?) {
        timer?.cancel()
        screen.sync { console.clear() }
    }

    private func bar(named name: String, of progress: Progress) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: screen)
        let shown = Locked(Shown(bar: TransferBar(name: name)))
        timer.setEventHandler { [self] in
            // The order matters: the total may become known between the two.
            let (completed, total) = (progress.completedUnitCount, progress.totalUnitCount)
            let line = shown.withLock { shown in
                shown.bar.completed = completed
                shown.bar.total = total > 0 ? max(total, completed) : nil
                shown.bar.rate = shown.rate.sample(Int(clamping: completed), at: began.duration(to: .now))
                return shown.bar.line(width: console.width)
            }
            console.draw(line)
        }
        timer.schedule(deadline: .now(), repeating: .milliseconds(100), leeway: .milliseconds(20))
        timer.activate()
        return timer
    }

    private func printOut(_ print: () throws(PatientWriter.Failure) -> Void) {
        do { try print() } catch .closed {
            stop(.outputClosed)
        } catch {
            say(error.text)
            stop(.outputFailed)
        }
    }

    private func stop(_ reason: StopReason) {
        let current = state.withLock { state in
            state.stopped = state.stopped ?? reason
            return state.current
        }
        current?.cancel()
    }
}

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
