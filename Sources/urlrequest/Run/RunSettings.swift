import RequestOperations

/// What one run of the tool is to do: the options of the command line, checked.
struct RunSettings: Sendable {
    /// The URLs given as arguments; they come before the lines of the input.
    var urls: [String] = []

    /// Where lines are read from.
    var input: LineSource?

    /// How many attempts are in flight at most.
    var concurrency = 64

    /// How many of them to one scheme, host and port.
    var perHost: Int?

    /// How many retries follow a first attempt at most.
    var retries = 3

    /// The longest time of one attempt.
    var timeout = Duration.seconds(30)

    /// The longest time of one request, from its submission.
    var deadline: Duration?

    /// What the requests have in common.
    var template = RequestTemplate()

    /// Where accepted bodies are saved; without it they are counted and dropped.
    var outputDirectory: OutputDirectory?

    /// What carries the requests.
    var transport = TransportChoice.platform

    /// Where the report is written at the end.
    var report: ReportFile?

    /// How results are printed on standard output; `nil` prints none.
    var format: OutcomeFormat? = .text

    /// Whether progress is shown on standard error.
    var showsProgress = true

    /// The configuration of every request's operation.
    var configuration: RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport.transport(forConnections: concurrency)
        configuration.limiter = RequestLimiter(total: concurrency, perHost: perHost)
        configuration.retryPolicy.maximumRetries = retries
        // The tool's own limits are the ones that were asked for: attempts, the time of one, and the deadline.
        configuration.retryPolicy.elapsedLimit = nil
        configuration.attemptTimeLimit = timeout
        configuration.connectTimeLimit = min(timeout, .seconds(15))
        configuration.idleTimeLimit = nil
        configuration.deadline = deadline
        return configuration
    }
}
