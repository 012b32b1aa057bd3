import RequestOperations

/// One run of the tool. A loop over the input adds each request to a queue. The reporter takes the results in batches.
final class RequestRun: Sendable {
    private enum Phase {
        case begins
        case reads(Task<Void, Never>)
        case stopped(StopReason)
    }

    private let settings: RunSettings
    private var keepsBodies: Bool { if case .body? = settings.format { true } else { false } }
    private let configuration: RequestConfiguration
    private let queue: RequestQueue
    private let reporter: Reporter
    private let places: OpenPlaces
    private let phase = Locked(Phase.begins)
    private let listener: InputOperation.Listener
    /// The operations that a report must have, and that have not been recorded: that happens a moment after the result.
    private let recorded = DispatchGroup()

    /// Makes a run that has not begun.
    init(_ settings: RunSettings) {
        self.settings = settings
        queue = RequestQueue(limiter: settings.limiter)
        // The deadline of a request runs while it waits in the queue. So the queue is short, unless hosts have limits
        // of their own. With such limits, requests that wait for a full host must not keep the others out.
        let isBoundByHost = settings.perHost != nil || settings.rate != nil
        queue.maximumPending = isBoundByHost ? OpenPlaces.fewest : max(8, settings.concurrency / 2)
        places = OpenPlaces(OpenPlaces.fewest + settings.concurrency)
        configuration = settings.configuration
        let hosts = settings.watchesHosts ? HostWatch(queue, configuration) : nil
        reporter = Reporter(settings, givingBackTo: places, watching: hosts)
        listener = InputOperation.Listener(onRetry: reporter.countRetry) { [reporter] operation, result in
            hosts?.countEnd(of: operation)
            reporter.record(operation, result)
        }
    }

    /// Runs to the end of the input, or to the first signal. Returns the exit status.
    func run() async -> Int32 {
        let signals = SignalWatch { [self] signal in
            stop(.signal(signal))
        } again: { [self] signal in
            settings.outputDirectory?.removeUnfinished()
            _exit(ExitStatus.signal(signal))
        }
        reporter.start { [self] reason in stop(reason) }
        await readInput()
        // All results are printed then. Nothing cancels this Task.
        try? await places.allOpen()
        await withCheckedContinuation { continuation in
            recorded.notify(queue: .global()) { continuation.resume() }
        }
        await settings.outputDirectory?.finish()
        let status = await reporter.finish { [self] in stopReason }
        await TransportChoice.shutDown(configuration.transport)
        signals.end()
        return status
    }

    // MARK: The input

    /// Adds the whole input to the queue, or the part that is read before the run is stopped.
    private func readInput() async {
        let reading = Task { await addRequests() }
        let isStopped = phase.withLock { phase in
            if case .stopped = phase { return true }
            phase = .reads(reading)
            return false
        }
        if isStopped { reading.cancel() }
        await reading.value
    }

    private func addRequests() async {
        do {
            var id = 0
            for url in settings.urls {
                id += 1
                try await add(from: .argument(id)) { try settings.template.request(fromURL: url, id: id) }
            }
            if let input = settings.input {
                var reader = input.reader()
                while let line = try await reader.next() {
                    id += 1
                    let origin = InputOrigin.line(id - settings.urls.count)
                    try await add(from: origin) { try settings.template.request(from: line, id: id) }
                    reporter.inputAdvanced(toFraction: input.fraction(ofBytes: reader.consumed))
                }
            }
            reporter.inputEnded()
        } catch is CancellationError {
            // The run was stopped. The summary says so.
        } catch {
            await reporter.inputFailed(error)
        }
    }

    /// Makes a request from an argument or line. Adds it to the queue when there is a place for it.
    ///
    /// - Throws: `CancellationError` when the run was stopped.
    private func add(from origin: InputOrigin, _ make: () throws -> InputRequest?) async throws {
        try Task.checkCancellation()
        let request: InputRequest?
        do { request = try make() } catch {
            return await reporter.cannotUse(origin, error)
        }
        guard let request else { return }
        reporter.countRequest(from: origin)
        try await add(request)
    }

    private func add(_ request: InputRequest) async throws {
        try await places.take(request.places)
        var place: InputOperation.SavingPlace?
        if let directory = settings.outputDirectory {
            switch await directory.name(of: FileName(of: request.request.url)) {
            case .free(let name): place = InputOperation.SavingPlace(directory: directory, name: name)
            case .kept(let file): return reporter.recordSkipped(request, keeping: file)
            }
        }
        let operation = InputOperation(
            request, configuration: configuration, savingAt: place, keepingBody: keepsBodies, listener)
        do { try await queue.add(operation) } catch {
            places.giveBack(request.places)
            throw error
        }
        if settings.reports.isWanted {
            recorded.enter()
            operation.whenFinished { [recorded] _ in recorded.leave() }
        }
        // A stop while the operation was being added would have missed it.
        if Task.isCancelled { operation.cancel() }
    }

    // MARK: The end

    private var stopReason: StopReason? {
        phase.withLock { if case .stopped(let reason) = $0 { reason } else { nil } }
    }

    /// Ends the run. Requests that have begun are cancelled. All others are dropped.
    private func stop(_ newReason: StopReason) {
        let reading: Task<Void, Never>? = phase.withLock { phase in
            switch phase {
            case .begins: phase = .stopped(newReason)
            case .reads(let reading):
                phase = .stopped(newReason)
                return reading
            case .stopped:
                // Once the output is closed, there is no one left to write to.
                if newReason == .outputClosed { phase = .stopped(newReason) }
            }
            return nil
        }
        reporter.hurry()
        reading?.cancel()
        queue.cancelAllOperations()
    }
}

/// Limits the work between the input and the output: requests that wait or run, and results that are not printed yet.
///
/// One Task at a time takes places. Any thread may give them back.
struct OpenPlaces: Sendable {
    private struct State {
        var open: Int
        /// The Task that waits, and how many places it wants.
        var taker: (wanted: Int, turn: Answer<Void>)?

        /// Takes places, if enough are open.
        mutating func take(_ number: Int) -> Bool {
            guard open >= number else { return false }
            open -= number
            return true
        }
    }

    /// There are never fewer places than this. A request that waits for its host uses 11 KiB.
    static let fewest = 4000

    private let count: Int
    private let state: Locked<State>

    /// Makes places, all of them open.
    init(_ count: Int) {
        self.count = count
        state = Locked(State(open: count))
    }

    /// Takes places. It waits until there are enough.
    ///
    /// - Throws: `CancellationError` when the Task is cancelled during the wait. Then it has taken none.
    func take(_ number: Int) async throws {
        let turn: Answer<Void>? = state.withLock { state in
            guard !state.take(number) else { return nil }
            let turn = Answer<Void>()
            state.taker = (number, turn)
            return turn
        }
        guard let turn else { return }
        try await withTaskCancellationHandler {
            try await turn.value
        } onCancel: {
            state.withLock { $0.taker.take() }?.turn.resume(with: .failure(CancellationError()))
        }
    }

    /// Gives places back.
    func giveBack(_ number: Int) {
        let turn: Answer<Void>? = state.withLock { state in
            state.open += number
            guard let taker = state.taker, state.take(taker.wanted) else { return nil }
            state.taker = nil
            return taker.turn
        }
        turn?.resume(with: .success(()))
    }

    /// Waits until all places are open.
    func allOpen() async throws {
        try await take(count)
        giveBack(count)
    }
}
