import RequestOperations

/// Prints results, messages, progress, the summary and the report, one after another on its queue.
// Unchecked: everything that changes is used only on `queue`, or has a lock of its own.
final class Reporter: @unchecked Sendable {
    /// The queue on which results must be recorded.
    let queue = DispatchQueue(label: "urlrequest.Reporter")

    private let settings: RunSettings
    private let results = ResultWriter(to: STDOUT_FILENO)
    private let console = Console()
    private let resultsShareTerminal: Bool
    private let began = (date: Date(), instant: ContinuousClock.now)
    private let input: Locked<InputState>
    private var tally = Tally()
    private var rate = RecentRate()
    private var isFlushPlanned = false
    private var onOutputLost: (@Sendable (StopReason) -> Void)?
    private var timer: (any DispatchSourceTimer)?

    /// How much of the input was read.
    private struct InputState {
        /// The number of arguments that make a request, including those not yet read.
        var arguments: Int
        /// The number of lines so far that make a request.
        var lines = 0
        /// The fraction of the input that was read; `nil` if it is not known.
        var fraction: Double?

        /// The estimated total number of requests; `nil` if it cannot be estimated.
        var total: Int? {
            guard let fraction else { return nil }
            return fraction > 0 ? arguments + Int((Double(lines) / fraction).rounded()) : nil
        }
    }

    /// Makes a reporter. It prints nothing before ``start(onOutputLost:)``.
    init(_ settings: RunSettings) {
        self.settings = settings
        resultsShareTerminal = console.isTerminal && isatty(STDOUT_FILENO) == 1
        input = Locked(
            InputState(arguments: settings.urls.count, fraction: settings.input == nil ? 1 : nil))
    }

    /// Begins to show progress.
    ///
    /// - Parameter onOutputLost: Called once if results can no longer be written.
    func start(onOutputLost: @escaping @Sendable (StopReason) -> Void) {
        queue.sync { self.onOutputLost = onOutputLost }
        guard settings.showsProgress else { return }
        let interval = console.isTerminal ? DispatchTimeInterval.milliseconds(100) : .seconds(5)
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [self] in showProgress() }
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(20))
        timer.activate()
        queue.sync { self.timer = timer }
    }

    // MARK: Results

    /// Counts and prints a result. Must be called on the ``queue``.
    func record(_ outcome: Outcome) {
        tally.add(outcome)
        guard let format = settings.format else { return }
        results.append(format.line(outcome))
        if results.isFull { return flush() }
        // The flush runs after the results that already wait for the queue. So these go out in one piece, and no result
        // waits for later ones.
        guard !isFlushPlanned else { return }
        isFlushPlanned = true
        queue.async { [self] in
            isFlushPlanned = false
            flush()
        }
    }

    /// Counts a retry that began.
    func countRetry() {
        queue.async { self.tally.retries += 1 }
    }

    /// Waits at most one more second for a reader of the results and messages.
    func hurry() {
        results.hurry()
        console.hurry()
    }

    private func flush() {
        if resultsShareTerminal { console.clear() }
        guard let failure = results.flush() else { return }
        if failure != .closed { console.print("urlrequest: \(failure.text)\n") }
        switch failure {
        case .closed: onOutputLost?(.outputClosed)
        case .stalled: break
        case .refused: onOutputLost?(.outputFailed)
        }
    }

    // MARK: Input

    /// Reports an argument or line that makes no request. Returns when the message has been printed.
    func cannotUse(_ origin: InputOrigin, _ error: any Error) async {
        if case .argument = origin { input.withLock { $0.arguments -= 1 } }
        await tellUnusable("\(origin): \(reason(error))")
    }

    /// Counts an argument or line that makes a request.
    func countRequest(from origin: InputOrigin) {
        if case .line = origin { input.withLock { $0.lines += 1 } }
    }

    /// Notes that the input was read up to a fraction of it.
    func inputAdvanced(toFraction fraction: Double?) {
        input.withLock { $0.fraction = fraction }
    }

    /// Notes that the input was read to its end.
    func inputEnded() {
        input.withLock { $0.fraction = 1 }
    }

    /// Reports that the input cannot be read further.
    func inputFailed(_ error: any Error) async {
        await tellUnusable("the input cannot be read: \(reason(error))")
        inputEnded()
    }

    private func tellUnusable(_ sentence: String) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                tally.unusable += 1
                console.print("urlrequest: \(sentence)\n")
                continuation.resume()
            }
        }
    }

    private func reason(_ error: any Error) -> String {
        (error as? UnusableInput)?.reason ?? "\(error)"
    }

    // MARK: Progress

    private func showProgress() {
        let line = progress()
        if console.isTerminal { console.draw(line.bar(width: console.width)) } else { console.print(line.sentence) }
    }

    private func progress() -> ProgressLine {
        let input = input.withLock { $0 }
        let done = tally.requests
        return ProgressLine(
            done: done, failed: tally.failed, retries: tally.retries, total: input.total.map { max($0, done) },
            rate: rate.sample(done, at: began.instant.duration(to: .now)))
    }

    // MARK: The end

    /// Prints what is left, the summary and the report. Returns the exit status of the run.
    func finish(stopped reason: @escaping @Sendable () -> StopReason?) async -> Int32 {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: end(stopped: reason)) }
        }
    }

    private func end(stopped reason: () -> StopReason?) -> Int32 {
        timer?.cancel()
        flush()
        console.clear()
        let duration = began.instant.duration(to: .now)
        // Only the last flush may show that the reader is gone.
        let reason = reason()
        var status = ExitStatus.of(tally, stopped: reason)
        if reason != .outputClosed {
            console.print(Summary(tally: tally, duration: duration, stopped: reason).description)
        }
        if let report = settings.report {
            let document = ReportDocument(settings, tally, began: began.date, duration: duration, exitStatus: status)
            do { try report.write(document.encoded()) } catch {
                console.print("urlrequest: the report cannot be written: \(errorText(error))\n")
                if status == ExitStatus.success { status = ExitStatus.failure }
            }
        }
        return status
    }
}
