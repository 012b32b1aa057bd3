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
        await settings.outputDirectory?.finish()
        let status = await reporter.finish { [self] in reason.withLock { $0 } }
        await TransportChoice.shutDown(configuration.transport)
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
                reporter.inputAdvanced(toFraction: input.fraction(ofBytes: reader.consumed))
            }
            reporter.inputEnded()
        } catch {
            reporter.inputFailed(error)
        }
    }

    /// Makes a request of an argument or a line and submits it, now or when there is a place. Whether the run goes on.
    private func take(from origin: InputOrigin, _ make: () throws -> InputRequest?) -> Bool {
        do {
            guard let request = try make() else { return true }
            reporter.countRequest(from: origin)
            switch gate.offer(request) {
            case .submit: submit(request)
            case .held, .wait: break
            case .stopped: return false
            }
        } catch {
            reporter.cannotUse(origin, error)
            return !gate.isStopped
        }
        return true
    }

    private func submit(_ request: InputRequest) {
        let operation = InputOperation(
            request, configuration: configuration, savingIn: settings.outputDirectory, observer: self)
        let submitted = ContinuousClock.now
        operation.whenFinished { [self] result in
            if case .failure = result { operation.discardFile() }
            // This runs later than the end: on the reporter's queue, which waits for whoever reads the results.
            let seconds = submitted.duration(to: operation.end ?? .now)
            reporter.record(Outcome(of: operation, result, seconds: seconds))
            submit(gate.printed(request))
        }
        queue.addOperation(operation)
        // A stop between the gate and the queue would have missed it.
        if gate.isStopped { operation.cancel() }
    }

    private func submit(_ requests: [InputRequest]) {
        for request in requests { submit(request) }
    }

    func beganWaiting(_ input: InputRequest) {
        submit(gate.beganWaiting(input))
    }

    func beganAttempt(_ input: InputRequest) {
        gate.beganAttempt(input)
    }

    func beganRetry() {
        reporter.countRetry()
    }

    func ended(_ input: InputRequest) {
        submit(gate.ended(input))
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
