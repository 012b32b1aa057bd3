/// Former names, kept for programs that still use them.

extension RetryBudget {
    /// The budget with its defaults.
    @available(*, deprecated, message: "Use RetryBudget(): the buckets are in RequestConfiguration.hosts.")
    public static let shared = RetryBudget()

    /// How many retries to a URL's host could be sent at once, by ``HostRegistry/shared``.
    @available(*, deprecated, message: "Use HostRegistry.retriesLeft(to:under:).")
    public func balance(of url: URL) -> Int {
        HostRegistry.shared.retriesLeft(to: url, under: self)
    }

    /// Counts a request in ``HostRegistry/shared``.
    @available(*, deprecated, message: "Use HostRegistry.countRequest(to:under:).")
    public func countRequest(to url: URL) {
        HostRegistry.shared.countRequest(to: url, under: self)
    }
}

extension CircuitBreaker {
    /// The state of the circuit to a URL's host, by ``HostRegistry/shared``.
    @available(*, deprecated, message: "Use HostRegistry.circuitState(of:under:).")
    public func state(of url: URL) -> State {
        HostRegistry.shared.circuitState(of: url, under: self)
    }

    /// The states of the circuit to a URL's host, by ``HostRegistry/shared``.
    @available(*, deprecated, message: "Use HostRegistry.circuitStates(of:under:).")
    public func states(of url: URL) -> AsyncStream<State> {
        HostRegistry.shared.circuitStates(of: url, under: self)
    }
}

extension RetryPolicy {
    /// Whether the `Retry-After` of a host also applies to other requests.
    @available(*, deprecated, message: "Use sharesRetryAfter, and set RequestConfiguration.hosts.")
    public var retryAfterTable: RetryAfterTable? {
        get { sharesRetryAfter ? .shared : nil }
        set { sharesRetryAfter = newValue != nil }
    }
}
