import RequestOperations

/// Transfers files one after the other, and shows how far each has come.
final class FileRun: Sendable {
    private struct State {
        /// The transfer that runs.
        var current: Operation?
        var stopped: StopReason?
        var failures = 0
    }

    private let transport: any Transport
    private let showsProgress: Bool
    private let reports: Reports
    private let queue = OperationQueue()
    private let console = TerminalScreen()
    private let state = Locked(State())

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
        guard showsProgress, console.isTerminal else {
            queue.addOperation(operation)
            return try await operation.value
        }
        let bar = ProgressBar(ProgressLine(name, unit: .bytes), on: console, lineInterval: nil)
        let updates = operation.progressUpdates
        async let shown: Void = bar.follow(updates)
        queue.addOperation(operation)
        let value = try await operation.value
        await shown
        return value
    }

    /// Prints a message on standard error.
    func say(_ message: String) {
        console.print("urlrequest: \(message)\n")
    }

    private var isStopped: Bool { state.withLock { $0.stopped != nil } }

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
