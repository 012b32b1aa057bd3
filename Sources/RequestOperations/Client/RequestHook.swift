/// Code of yours that a ``RequestClient`` runs for each of its requests.
///
/// ```swift
/// client.hooks = [
///     .defaults { defaults, _ in defaults.parameters["version"] = 2 },
///     .error { error, _ in (error as? RequestError)?.head?.status == 401 ? SignedOut() : error },
/// ]
/// ```
///
/// Hooks apply in this order, and those of one kind in the order of the list:
///
/// | hook | when | how often |
/// |---|---|---|
/// | ``defaults(_:_:)`` | before the options of the call | once; again for a member, if a hook has the scope `alone` |
/// | ``request(_:_:)`` | after them, before the adapters | when the first attempt begins; again at the next one if a hook threw |
/// | ``response(_:_:)`` | before the response is decoded | once per accepted response |
/// | ``success(_:_:)`` | when an attempt has a value | once per attempt with a value |
/// | ``attempt(_:_:)`` | before the retry decision | once per failed attempt that needs a retry decision |
/// | ``error(_:_:)`` | before the request has its result | once per request that fails for good |
///
/// A `defaults` hook runs on the thread that makes the request, or on the Task of a member. All other hooks run on the Task of
/// the operation. After the deadline, or if a request fails before its start, an `error` hook runs on the thread that ends the
/// request. No hook begins after a cancel.
///
/// A hook does not apply to requests made before it was set.
public struct RequestHook: Sendable {
    /// Which requests a hook applies to.
    public enum Scope: Sendable, Hashable {
        /// Requests that are started by a queue, or by you.
        case alone
        /// Also requests that a batch, a chain, a group or another operation starts.
        case everywhere
    }

    enum Work: Sendable {
        case defaults(@Sendable (inout RequestDefaults, RequestOptions) -> Void)
        case request(@Sendable (inout URLRequest, Submission) async throws -> Void)
        case response(@Sendable (TransportResponse, Submission) async throws -> TransportResponse)
        case success(@Sendable (any Sendable, Submission) async -> RetryDecision?)
        case attempt(@Sendable (AttemptFailure, Submission) async -> Void)
        case error(@Sendable (any Error, Submission) -> any Error)
    }

    /// Which requests the hook applies to.
    package let scope: Scope
    let work: Work

    /// Changes the defaults of a request before the options of its call apply.
    ///
    /// The defaults are a copy of the client's. When a request is made, the client does not know whether it will be started
    /// alone. So a hook with the scope ``Scope/alone`` is called for each request. Members of a batch, chain or group do not use
    /// its changes. For such a member, hooks with the scope ``Scope/everywhere`` are called again: when the member begins, or for
    /// an ``Endpoint`` when the request is made.
    ///
    /// - Parameters:
    ///   - scope: ``Scope/alone`` by default.
    ///   - change: Gets the defaults, and the options that the call has set.
    public static func defaults(
        _ scope: Scope = .alone, _ change: @escaping @Sendable (inout RequestDefaults, RequestOptions) -> Void
    ) -> RequestHook { RequestHook(scope: scope, work: .defaults(change)) }

    /// Has the final say on a request, after the options of its call. A retry sends the changed request again.
    ///
    /// For a value that must be new at each attempt, such as a token, use an adapter.
    ///
    /// - Parameters:
    ///   - scope: ``Scope/alone`` by default.
    ///   - change: Changes the request. An error that it throws fails the attempt, like an error of an adapter. The next attempt
    ///     then calls all request hooks again.
    public static func request(
        _ scope: Scope = .alone, _ change: @escaping @Sendable (inout URLRequest, Submission) async throws -> Void
    ) -> RequestHook { RequestHook(scope: scope, work: .request(change)) }

    /// Inspects or replaces an accepted response before it is decoded.
    ///
    /// - Parameters:
    ///   - scope: ``Scope/everywhere`` by default.
    ///   - change: Returns the response to decode. One with an empty ``TransportResponse/body`` has nothing to decode. An error
    ///     that it throws fails the attempt. The retry policy counts an error of your own as permanent, unless
    ///     ``RetryPolicy/isTransient`` says otherwise.
    public static func response(
        _ scope: Scope = .everywhere,
        _ change: @escaping @Sendable (TransportResponse, Submission) async throws -> TransportResponse
    ) -> RequestHook { RequestHook(scope: scope, work: .response(change)) }

    /// Decides whether a value is good enough. `nil` accepts it. The first decision that is not `nil` counts; see
    /// ``RetryingOperation/retryDecision(afterSuccess:attempt:)``.
    ///
    /// - Parameters:
    ///   - scope: ``Scope/everywhere`` by default.
    ///   - decide: Gets the value.
    public static func success(
        _ scope: Scope = .everywhere,
        _ decide: @escaping @Sendable (any Sendable, Submission) async -> RetryDecision?
    ) -> RequestHook { RequestHook(scope: scope, work: .success(decide)) }

    /// Observes each failed attempt, before the decision about a retry.
    ///
    /// - Parameters:
    ///   - scope: ``Scope/everywhere`` by default.
    ///   - note: Gets the failure.
    public static func attempt(
        _ scope: Scope = .everywhere, _ note: @escaping @Sendable (AttemptFailure, Submission) async -> Void
    ) -> RequestHook { RequestHook(scope: scope, work: .attempt(note)) }

    /// Makes the error that a request fails with. It is called once for each request that fails, after all retries. It is not
    /// called for a cancelled request.
    ///
    /// - Parameters:
    ///   - scope: ``Scope/everywhere`` by default.
    ///   - map: Returns the same error or another one, which need not be a ``RequestError``.
    public static func error(
        _ scope: Scope = .everywhere, _ map: @escaping @Sendable (any Error, Submission) -> any Error
    ) -> RequestHook { RequestHook(scope: scope, work: .error(map)) }

    /// Whether the hook applies to a request.
    ///
    /// - Parameter isMember: Whether a batch, a chain or a group started the request.
    func applies(toMember isMember: Bool) -> Bool { scope == .everywhere || !isMember }
}

/// A bundle of what one feature adds to a ``RequestClient``, such as signing or a cache.
///
/// Plugins apply in the order in which they were installed. Within a request:
///
/// 1. Hooks come after those in ``RequestClient/hooks``.
/// 2. Adapters come after those of the request's configuration, so a later plugin sees what an earlier one did.
/// 3. Transport wrappers: the plugin that was installed last is the outermost and sees a request first.
/// 4. Deciders come after those of the configuration, so the last plugin has the last word.
/// 5. Observers are called like all others. The client keeps strong references to them.
public struct ClientPlugin: Sendable {
    /// See ``RequestClient/hooks``. None by default.
    public var hooks: [RequestHook] = []
    /// See ``RequestConfiguration/adapters``. None by default.
    public var adapters: [RequestAdapter] = []
    /// See ``RequestConfiguration/retryDeciders``. None by default.
    public var deciders: [RetryDecider] = []
    /// Observers of all requests. None by default.
    public var observers: [any RequestObserver] = []
    /// Wraps the transport of a request. `nil` by default. Called once for each request.
    public var transport: (@Sendable (any Transport) -> any Transport)?
    /// What learns of each request. None by default.
    package var instruments: [RequestInstrument] = []

    /// Makes an empty plugin.
    public init() {}

    /// Adds what the plugin has to a configuration.
    func add(to configuration: inout RequestConfiguration) {
        if let transport { configuration.transport = transport(configuration.transport) }
        configuration.adapters += adapters
        configuration.retryDeciders += deciders
        if !instruments.isEmpty { configuration.instruments += instruments }
    }
}
