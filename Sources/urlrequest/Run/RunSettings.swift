import RequestOperations

/// The checked command-line options of one run of the tool.
struct RunSettings: Sendable {
    /// The URLs from the arguments. They come before the lines of the input.
    var urls: [String] = []

    /// The source of the input lines.
    var input: LineSource?

    /// The largest number of attempts in flight.
    var concurrency = 64

    /// The largest number of attempts in flight to one scheme, host and port.
    var perHost: Int?

    /// The largest number of attempts that begin per second to one scheme, host and port.
    var rate: Double?

    /// The largest number of retries after a first attempt.
    var retries = 3

    /// Whether a wait for a retry ends early when its host or the network recovers.
    var retriesEarly = true

    /// The longest time of one attempt.
    var timeout = Duration.seconds(30)

    /// The longest time of one request, from when it gets a place.
    var deadline: Duration?

    /// The parts that all requests have in common.
    var template = RequestTemplate()

    /// Where accepted bodies are saved. Without it, bodies are counted and dropped.
    var outputDirectory: OutputDirectory?

    /// The transport that carries the requests.
    var transport = TransportChoice.platform

    /// Which servers are trusted, and how connections are made.
    var connections = ConnectionOptions()

    /// Whether requests go through the proxy that the environment names.
    var usesProxy = true

    /// Whether cookies are kept in memory during the run, and sent.
    var keepsCookies = false

    /// The reports that are written at the end.
    var reports = Reports()

    /// How results are printed on standard output; `nil` prints none.
    var format: OutcomeFormat? = .text

    /// Whether progress is shown on standard error.
    var showsProgress = true

    /// Whether the hosts are shown beside the progress.
    var watchesHosts = false

    /// How many responses 429 with a `Retry-After` use up no retry of a request. The limit exists so that a host that
    /// always answers 429 cannot keep the run going for ever.
    private static let freePauses = 100

    /// Lowers the number of attempts in flight to what a limit of open files allows. Reports it if that is less than
    /// requested.
    mutating func lowerConcurrency(to limit: rlim_t, saying say: (String) -> Void) {
        let most = Descriptors.attempts(under: limit)
        guard concurrency > most else { return }
        say(
            "urlrequest: --concurrency \(concurrency) is lowered to \(most): no more than \(limit) files and sockets may be "
                + "open (ulimit -n)\n")
        concurrency = most
    }

    /// The limiter of the queue. The queue holds back requests that must wait for the rate of their host.
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
        if !retriesEarly { configuration.retryPolicy.earlyRetryObservers = [] }
        // A retry may wait long for a host that limits its rate. The number of retries and the deadline limit the time.
        configuration.retryPolicy.elapsedLimit = nil
        // All requests of a run come from one client, so a 429 concerns all of them. It asks for a slower pace, which
        // the limiter keeps. It uses up no retry.
        configuration.retryPolicy.sharesTooManyRequests = true
        configuration.retryPolicy.uncountedTooManyRequests = Self.freePauses
        configuration.attemptTimeLimit = timeout
        configuration.connectTimeLimit = timeout
        configuration.idleTimeLimit = nil
        // A request of the tool does not go stale while it waits for its place.
        configuration.freshness = .seconds(Int64.max)
        configuration.deadline = deadline
        reports.record(&configuration)
        return configuration
    }
}
