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

    /// How many attempts a second begin to one scheme, host and port at most.
    var rate: Double?

    /// How many retries follow a first attempt at most.
    var retries = 3

    /// The longest time of one attempt.
    var timeout = Duration.seconds(30)

    /// The longest time of one request, from when it has a place.
    var deadline: Duration?

    /// What the requests have in common.
    var template = RequestTemplate()

    /// Where accepted bodies are saved; without it they are counted and dropped.
    var outputDirectory: OutputDirectory?

    /// What carries the requests.
    var transport = TransportChoice.platform

    /// Which servers are trusted, and how connections are made.
    var connections = ConnectionOptions()

    /// Whether requests go through the proxy that the environment names.
    var usesProxy = true

    /// Whether cookies are kept in memory for the time of the run, and sent.
    var keepsCookies = false

    /// Where the report is written at the end.
    var report: ReportFile?

    /// How results are printed on standard output; `nil` prints none.
    var format: OutcomeFormat? = .text

    /// Whether progress is shown on standard error.
    var showsProgress = true

    /// So many responses 429 with a `Retry-After` use up no retry of a request. A host that never answers otherwise does not keep
    /// the run for ever.
    private static let freePauses = 100

    /// Has no more attempts in flight than a limit of open files allows, and says so if that is less than was asked for.
    mutating func lowerConcurrency(to limit: rlim_t, saying say: (String) -> Void) {
        let most = Descriptors.attempts(under: limit)
        guard concurrency > most else { return }
        say(
            "urlrequest: --concurrency \(concurrency) is lowered to \(most): no more than \(limit) files and sockets may be "
                + "open (ulimit -n)\n")
        concurrency = most
    }

    /// The limiter of the queue. What has to wait for its host's rate is held back by the queue.
    var limiter: RequestLimiter {
        RequestLimiter(
            total: concurrency, perHost: perHost, rate: rate.map { .perSecond($0) }, per: .host,
            adaptsToTooManyRequests: true)
    }

    /// The configuration of every request's operation.
    var configuration: RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport.transport(
            forConnections: concurrency, usingProxy: usesProxy, keepingCookies: keepsCookies, connections)
        configuration.retryPolicy.maximumRetries = retries
        // A retry may stand in a long line of a host that limits its rate. The retries and the deadline bound the time.
        configuration.retryPolicy.elapsedLimit = nil
        // All requests of a run come from one client, so a 429 concerns all of them. It asks for a slower pace, which the
        // limiter keeps, and uses up no retry.
        configuration.retryPolicy.sharesTooManyRequests = true
        configuration.retryPolicy.uncountedTooManyRequests = Self.freePauses
        configuration.attemptTimeLimit = timeout
        configuration.connectTimeLimit = timeout
        configuration.idleTimeLimit = nil
        // Nothing in a request of the tool goes stale while it waits for its place.
        configuration.freshness = .seconds(Int64.max)
        configuration.deadline = deadline
        return configuration
    }
}
