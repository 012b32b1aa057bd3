/// What a ``RequestClient`` does at one moment, and what it has done. A value that stands alone.
///
/// ```swift
/// client.recordsStatistics = true
/// // … requests …
/// print(client.statistics.running, client.statistics.totals?.failed ?? 0)
/// ```
///
/// ``prometheusText`` has all of it as text for Prometheus.
public struct ClientStatistics: Sendable {
    /// One origin.
    public struct Host: Sendable {
        /// Scheme, host and port.
        public let origin: String
        /// How many requests of the client run. A redirect does not change the origin of a request.
        public internal(set) var running = 0
        /// How many requests of the client wait.
        public internal(set) var waiting = 0
        /// The state of the circuit. `nil` if the configuration of the client has no ``CircuitBreaker``.
        public internal(set) var circuit: CircuitBreaker.State?
        /// How many retries could be sent at once. `nil` if the configuration of the client has no ``RetryBudget``.
        public internal(set) var retriesLeft: Int?
        /// For how long the host has asked to be left alone. Zero if it has not.
        public internal(set) var timeLeftAlone = Duration.zero
        /// How many attempts may begin per second, as the limiters of the queue and of the configuration say. `nil` means no
        /// bound.
        public internal(set) var pace: Double?
    }

    /// When the snapshot was taken, by the clock of the system.
    public let date: Date
    /// How many requests run. A request in a wait does not run.
    public internal(set) var running = 0
    /// How many requests wait, by what they wait for.
    public internal(set) var waiting: [RequestWait: Int] = [:]
    /// How many operations ``RequestClient/queue`` holds back, with those that the client did not make.
    public internal(set) var queueDepth = 0
    /// For how long the one of these that was added first has been ready. `nil` if that is no ready request.
    public internal(set) var oldestWait: Duration?
    /// The hosts of the requests that have not ended, and those that the ``HostRegistry`` of the client's configuration
    /// remembers. At most 1,000, those with requests first.
    public internal(set) var hosts: [Host] = []
    /// What has ended. `nil` unless ``RequestClient/recordsStatistics`` is set.
    public internal(set) var totals: TimelineSummary?
}

extension ClientStatistics {
    /// One value of the present, for a system of metrics.
    package struct Gauge: Sendable {
        /// Words in lower case with dots between them, such as `queue.depth`.
        package let name: String
        package let help: String
        /// Names and values. A `host` is scheme, host and port.
        package let labels: [(String, String)]
        package let value: Double
    }

    /// The values of the present. Those with the same name follow each other.
    package var gauges: [Gauge] {
        var gauges: [Gauge] = []
        func add(_ name: String, _ help: String, _ value: Double?, _ labels: (String, String)...) {
            if let value { gauges.append(Gauge(name: name, help: help, labels: labels, value: value)) }
        }
        func each(_ name: String, _ help: String, _ value: (Host) -> Double?) {
            for host in hosts { add(name, help, value(host), ("host", host.origin)) }
        }
        add("requests.running", "Requests that run now.", Double(running))
        for wait in RequestWait.allCases {
            add(
                "requests.waiting", "Requests that wait now, by what they wait for.", Double(waiting[wait] ?? 0),
                ("reason", wait.rawValue))
        }
        add("queue.depth", "Operations that the queue holds back.", Double(queueDepth))
        add(
            "queue.oldest_wait.seconds", "How long the oldest request in the queue has been ready.",
            (oldestWait ?? .zero).inSeconds)
        each("host.requests.running", "Requests to the host that run now.") { Double($0.running) }
        each("host.requests.waiting", "Requests to the host that wait now.") { Double($0.waiting) }
        each("host.retries_left", "Retries that the budget of the host has room for.") {
            $0.retriesLeft.map(Double.init)
        }
        each("host.left_alone.seconds", "How long the host has asked to be left alone.") { $0.timeLeftAlone.inSeconds }
        each("host.pace", "Attempts to the host that may begin per second.") { $0.pace }
        for host in hosts {
            guard let circuit = host.circuit else { continue }
            for (state, name) in [(CircuitBreaker.State.closed, "closed"), (.halfOpen, "half_open"), (.open, "open")] {
                add(
                    "host.circuit.state", "1 for the state that the circuit of the host is in.",
                    circuit == state ? 1 : 0, ("host", host.origin), ("state", name))
            }
        }
        return gauges
    }
}

extension RequestClient {
    /// What the client does now, and what it has done.
    ///
    /// It counts the requests that this client made or was given, without members of batches that it did not make. An operation
    /// that another queue starts counts once it has begun. The time that a snapshot takes grows with the number of requests that
    /// have not ended. Take one every few seconds, not for each request.
    public var statistics: ClientStatistics {
        let (settings, calls) = (settings.withLock { $0 }.value, table.withLock { $0.activeCalls })
        var statistics = ClientStatistics(date: Date())
        statistics.totals = settings.totals?.withLock { $0 }
        (statistics.queueDepth, statistics.oldestWait) = queue.heldBack
        var hosts: [Origin: ClientStatistics.Host] = [:]
        for call in calls {
            guard let runner = (call.submission.operation as? any EventSource)?.runner else { continue }
            let (activity, url) = runner.requestState.withLock { ($0.activity, $0.original.value.url) }
            let origin = Origin(url)
            var host = hosts[origin] ?? ClientStatistics.Host(origin: origin.text)
            switch activity {
            case .running:
                statistics.running += 1
                host.running += 1
            case .waiting(let wait):
                statistics.waiting[wait, default: 0] += 1
                host.waiting += 1
            case .ended: continue
            }
            hosts[origin] = host
        }
        statistics.hosts = described(hosts, under: settings.configuration)
        return statistics
    }

    /// Whether requests that end are counted in ``ClientStatistics/totals``. `false` by default.
    ///
    /// Setting it begins to count from zero. It applies to requests that are made afterwards. A request that ended before it
    /// began is not counted. The memory does not grow with the number of requests.
    public var recordsStatistics: Bool {
        get { settings.withLock { $0.value.totals != nil } }
        set { edit { $0.totals = newValue ? Locked(TimelineSummary(start: Date())) : nil } }
    }

    /// Adds what is known about the hosts, and those that only the registry knows.
    private func described(
        _ active: [Origin: ClientStatistics.Host], under configuration: RequestConfiguration
    ) -> [ClientStatistics.Host] {
        let registry = configuration.hosts
        let idle = registry.origins.filter { active[$0] == nil && !$0.host.isEmpty }
        let listed = active.sorted { $0.value.origin < $1.value.origin } + idle.map { ($0, .init(origin: $0.text)) }
        return listed.prefix(1000).map { origin, host in
            var host = host
            registry.visit(origin) { state, now in
                host.circuit = configuration.circuitBreaker.map { state.circuit($0).state(at: now) }
                host.retriesLeft = configuration.retryBudget.map { state.bucket(of: $0, at: now).balance(at: now) }
                host.timeLeftAlone = state.timeLeftAlone(at: now)
            }
            host.pace = [queue.limiter, configuration.limiter].compactMap { $0?.pace(to: origin) }.min()
            return host
        }
    }
}

extension RequestQueue {
    /// How many operations the queue holds back, and for how long the one that was added first has been ready.
    fileprivate var heldBack: (count: Int, oldest: Duration?) {
        let (count, first) = waiting.withLock { ($0.count, $0.first) }
        return (count, (first as? any EventSource)?.runner.timeSinceReady)
    }
}
