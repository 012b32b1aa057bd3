import RequestOperations

/// One run of the tool: lines stream in, each becomes an operation on a queue, and each result goes out as it comes.
// Unchecked: `reason` is behind its lock, and Foundation's queue is thread-safe.
final class RequestRun: InputOperation.Observer, @unchecked Sendable {
    private let settings: RunSettings
    private let configuration: RequestConfiguration
    private let queue = OperationQueue()
    private let gate: Gate
    private let reporter: Reporter
    private let reason = Locked<StopReason?>(nil)

    /// Makes a run that has not begun.
    init(_ settings: RunSettings) {
        self.settings = settings
        gate = Gate(limits: Admission.Limits(concurrency: settings.concurrency, perHost: settings.perHost))
        reporter = Reporter(settings)
        var configuration = settings.configuration
        configuration.completionQueue = reporter.queue
        self.configuration = configuration
    }

    /// Runs to the end of the input, or to the first signal, and returns the exit status.
    func run() async -> Int32 {
        let signals = SignalWatch { [self] signal in
            stop(.signal(signal))
        } again: { [self] signal in
            settings.outputDirectory?.removeUnfinished()
            _exit(ExitStatus.signal(signal))
        }
        reporter.start { [self] reason in stop(reason) }
        Thread(block: feed).start()
        await gate.idle()
        settings.outputDirectory?.finish()
        let status = await reporter.finish { [self] in reason.withLock { $0 } }
        signals.end()
        return status
    }

    // MARK: The way of a request

    /// Submits the whole input. On a thread of its own: it blocks for lines, and while there is no room for them.
    private func feed() {
        defer { gate.endInput() }
        for (index, url) in settings.urls.enumerated() {
            let id = index + 1
            guard take(from: .argument(id), { try settings.template.request(fromURL: url, id: id) }) else { return }
        }
        guard let input = settings.input else { return reporter.inputEnded() }
        var id = settings.urls.count
        var reader = input.reader()
        do {
            while let line = try reader.next() {
                id += 1
                let origin = InputOrigin.line(id - settings.urls.count)
                guard take(from: origin, { try settings.template.request(from: line, id: id) }) else { return }
                reporter.inputAdvanced(to: id, fraction: input.fraction(ofBytes: reader.consumed))
            }
            reporter.inputEnded()
        } catch {
            reporter.inputFailed(error)
        }
    }

    /// Makes a request of an argument or a line and submits it, now or when its host has a place. Whether the run goes on.
    private func take(from origin: InputOrigin, _ make: () throws -> InputRequest?) -> Bool {
        do {
            guard let request = try make() else { return true }
            switch gate.offer(request) {
            case .submit: submit(request)
            case .held, .wait: break
            case .stopped: return false
            }
        } catch {
            reporter.cannotUse(origin, error)
        }
        return true
    }

    private func submit(_ request: InputRequest) {
        let operation = InputOperation(
            request, configuration: configuration, savingIn: settings.outputDirectory, observer: self)
        let submitted = ContinuousClock.now
        operation.whenFinished { [self] result in
            operation.discardFile()
            reporter.record(Outcome(of: operation, result, seconds: submitted.duration(to: .now)))
            submitNext(gate.ended(request))
        }
        queue.addOperation(operation)
        // A stop between the gate and the queue would have missed it.
        if gate.isStopped { operation.cancel() }
    }

    private func submitNext(_ request: InputRequest?) {
        if let request { submit(request) }
    }

    func beganWaiting(_ operation: InputOperation) {
        submitNext(gate.beganWaiting(operation.input))
    }

    func beganAttempt(_ operation: InputOperation) {
        if gate.beganAttempt(operation.input) { reporter.countRetry() }
    }

    // MARK: The end

    /// Ends the run: what was submitted is cancelled, what was not is forgotten.
    private func stop(_ newReason: StopReason) {
        reason.withLock { reason in
            // A closed output outlives a signal: there is nobody left to write to.
            if reason == nil || newReason == .outputClosed { reason = newReason }
        }
        reporter.hurry()
        gate.stop()
        queue.cancelAllOperations()
    }
}
