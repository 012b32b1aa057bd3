import RequestOperations

/// Prints results, messages, progress, the summary and the report, one after another on its queue.
///
/// It takes and writes results in batches. The first result after a pause is written at once. Others are written at most
/// 5 ms later, together with all that ended meanwhile.
// Unchecked: everything that changes is used only on `queue`, or has a lock of its own.
final class Reporter: @unchecked Sendable {
    private let queue = DispatchQueue(label: "urlrequest.Reporter")

    private let settings: RunSettings
    private let places: OpenPlaces
    private let output = PatientWriter(to: STDOUT_FILENO)
    private let console = TerminalScreen()
    private let resultsShareTerminal: Bool
    private let began = (date: Date(), instant: ContinuousClock.now)
    private let input: Locked<InputState>
    private let waiting = Locked(Waiting())
    /// The lines to write next.
    private var lines: [UInt8] = []
    /// Whether results can no longer be written.
    private var isOutputLost = false
    private var tally = Tally()
    private var onOutputLost: (@Sendable (StopReason) -> Void)?
    /// `nil` if no progress is shown.
    private let bar: ProgressBar?

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

    /// What waits for the queue.
    private struct Waiting {
        var outcomes: [Outcome] = []
        /// How many places are given back when that has been printed.
        var places = 0
        var retries = 0
        /// Whether the queue has been asked to take this.
        var isPlanned = false
        /// The earliest time at which the queue takes this.
        var time = DispatchTime(uptimeNanoseconds: 1)
    }

    /// How long results are gathered, and how many bytes of lines.
    private static let batch = (time: DispatchTimeInterval.milliseconds(5), size: 32 << 10)

    /// Makes a reporter. It prints nothing before ``start(onOutputLost:)``.
    ///
    /// - Parameters:
    ///   - settings: How and where results, progress and the report are printed.
    ///   - places: Where it gives back the places of each request whose result was printed.
    ///   - hosts: Is shown beside the progress. `nil` shows no hosts.
    init(_ settings: RunSettings, givingBackTo places: OpenPlaces, watching hosts: HostWatch? = nil) {
        self.settings = settings
        self.places = places
        resultsShareTerminal = console.isTerminal && isatty(STDOUT_FILENO) == 1
        input = Locked(
            InputState(arguments: settings.urls.count, fraction: settings.input == nil ? 1 : nil))
        var details: (@Sendable () -> ProgressBar.Details)?
        if let hosts {
            details = {
                let view = hosts.view
                return ProgressBar.Details(rows: view.rows, words: view.words)
            }
        }
        bar =
            settings.showsProgress
            ? ProgressBar(
                ProgressLine(), on: console, prefix: "urlrequest: ", lineInterval: .seconds(5), details: details)
            : nil
        showProgress()
    }

    /// Begins to print results.
    ///
    /// - Parameter onOutputLost: Called once if results can no longer be written.
    func start(onOutputLost: @escaping @Sendable (StopReason) -> Void) {
        queue.sync { self.onOutputLost = onOutputLost }
    }

    // MARK: Results

    /// Counts and prints the result of a request. Called on any thread.
    func record(_ operation: InputOperation, _ result: Result<Int64, any Error>) {
        // A request that was still held back when the run was stopped has no result.
        guard let outcome = Outcome(of: operation, result, for: settings.format) else {
            return places.giveBack(operation.input.places)
        }
        record(outcome, of: operation.input)
    }

    /// Counts and prints a request that was not sent, since its file already existed. Called on any thread.
    func recordSkipped(_ request: InputRequest, keeping file: String) {
        record(Outcome(skipping: request, keeping: file), of: request)
    }

    private func record(_ outcome: Outcome, of request: InputRequest) {
        hold {
            $0.outcomes.append(outcome)
            $0.places += request.places
        }
    }

    /// Counts a retry that began. Called on any thread.
    func countRetry() {
        hold { $0.retries += 1 }
    }

    private func hold(_ add: (inout Waiting) -> Void) {
        let time: DispatchTime? = waiting.withLock { waiting in
            add(&waiting)
            defer { waiting.isPlanned = true }
            return waiting.isPlanned ? nil : waiting.time
        }
        if let time { queue.asyncAfter(deadline: time) { [self] in takeWaiting() } }
    }

    private func takeWaiting() {
        let next = DispatchTime.now() + Self.batch.time
        let taken = waiting.withLock { waiting in
            defer { waiting = Waiting(time: next) }
            return waiting
        }
        tally.retries += taken.retries
        for outcome in taken.outcomes {
            tally.add(outcome)
            guard let format = settings.format, !isOutputLost else { continue }
            lines.append(contentsOf: format.bytes(outcome))
            if lines.count >= Self.batch.size { writeLines() }
        }
        writeLines()
        showProgress()
        places.giveBack(taken.places)
    }

    /// Waits at most one more second for a reader of the results and messages.
    func hurry() {
        output.hurry()
        console.hurry()
    }

    private func writeLines() {
        guard !lines.isEmpty else { return }
        if resultsShareTerminal { console.clear() }
        let failure = output.write(lines)
        lines.removeAll(keepingCapacity: true)
        guard let failure else { return }
        isOutputLost = true
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
        queue.async { [self] in showProgress() }
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
        guard let bar else { return }
        let total = input.withLock { $0.total }
        let (done, failed, retries) = (tally.requests, tally.failed, tally.retries)
        bar.update { line in
            line.completed = Int64(done)
            line.total = total.map { Int64(max($0, done)) }
            line.notes = ["\(failed) failed", "\(retries) \(retries == 1 ? "retry" : "retries")"]
        }
    }

    // MARK: The end

    /// Prints what is left, the summary and the report. Returns the exit status of the run.
    func finish(stopped reason: @escaping @Sendable () -> StopReason?) async -> Int32 {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: end(stopped: reason)) }
        }
    }

    private func end(stopped reason: () -> StopReason?) -> Int32 {
        bar?.end()
        takeWaiting()
        let duration = began.instant.duration(to: .now)
        // Only the last flush may show that the reader is gone.
        let reason = reason()
        var status = ExitStatus.of(tally, stopped: reason)
        if reason != .outputClosed {
            console.print(Summary(tally: tally, duration: duration, stopped: reason).description)
        }
        let isWhole = settings.reports.write { [settings, tally, began, status] timeline in
            try ReportDocument(
                settings, tally, began: began.date, duration: duration, exitStatus: status, timeline
            ).encoded()
        } saying: {
            console.print("urlrequest: \($0)\n")
        }
        if !isWhole, status == ExitStatus.success { status = ExitStatus.failure }
        return status
    }
}
