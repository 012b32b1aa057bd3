/// A credential that is renewed when a server rejects it. One renewal serves all rejected requests, which are then sent
/// again.
///
/// ```swift
/// let session = RefreshingCredential(saved) { token, request in
///     request.setValue("Bearer \(token.access)", forHTTPHeaderField: "Authorization")
/// } refresh: { token in
///     try await login(with: token?.refresh)
/// }
/// configuration.authenticate(with: session)
/// ```
///
/// Each request carries the credential that is present when the request is processed. During a renewal, requests wait
/// without a slot.
///
/// A request that fails with 401 (RFC 9110, section 15.5.2) is sent again with the new credential. The retry policy
/// cannot prevent this. The server did nothing, so the method does not matter. But the body must be replayable. After a
/// redirect, the server did something, and the 401 answers the request that followed. In that case only an idempotent
/// request is sent again, or one with an `Idempotency-Key`.
///
/// These requests do not start a renewal:
///
/// - a request that carried an older credential than the present one
/// - a request that carried none of this object's credentials
/// - a request whose 401 came, after a redirect, from another scheme, host or port than the request was sent to
///
/// Two limits prevent endless renewals. A request has at most `maximumAttempts` attempts. The credential is renewed
/// only a limited number of times in a span of time. Beyond that, the 401 is the failure. A third limit is the time of
/// a renewal: one that hangs does not hold up all requests.
///
/// This object ignores every request that the refresh closure makes, with any configuration. Such a request must not
/// need a place in a queue that the waiting requests fill.
public final class RefreshingCredential<Credential: Sendable>: Sendable {
    private let maximumAttempts: Int
    private let state: Locked<CredentialHistory<Credential>>
    private let clock: RequestClock
    private let refreshTimeLimit: Duration?
    private let apply: @Sendable (Credential, inout URLRequest) -> Void
    private let refresh: @Sendable (Credential?) async throws -> Credential
    private let isExpired: @Sendable (Credential) -> Bool

    /// Makes a credential.
    ///
    /// - Parameters:
    ///   - credential: The credential known at first. With `nil`, the first request starts a renewal.
    ///   - maximumAttempts: The most attempts of a request that is rejected. 4 by default. The retries of the retry policy
    ///     count as attempts.
    ///   - maximumRefreshes: The most renewals within the time of `window`. 5 by default.
    ///   - window: The time in which renewals are counted. 30 s by default.
    ///   - refreshTimeLimit: The longest time of one renewal. After it, the waiting requests fail as
    ///     ``RequestError/Code/timedOut``. The Task of the renewal is cancelled, its later result is dropped, and the
    ///     next request begins another renewal. 30 s by default; `nil` means no limit.
    ///   - clock: Measures the window and the time limit. The continuous clock by default.
    ///   - apply: Puts a credential into the fields or the URL of a request. It must give the same result for the same
    ///     input, because it also tells which credential a rejected request carried. If a request already has the
    ///     credential, it must change nothing. So it sets a field, and does not append to one.
    ///   - refresh: Gets a new credential from the rejected one, if there was one. It runs in a detached Task, and is
    ///     not cancelled with the requests that wait for it. It never runs twice at the same time, except after
    ///     ``replace(with:)`` or the time limit. If it throws, the waiting requests fail with its error; a
    ///     `CancellationError` cancels them.
    ///   - isExpired: Whether the credential has expired, so that it is not tried. It is called for each attempt. By
    ///     default a credential never expires.
    public init(
        _ credential: Credential?, maximumAttempts: Int = 4, maximumRefreshes: Int = 5,
        per window: Duration = .seconds(30), refreshTimeLimit: Duration? = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        apply: @escaping @Sendable (Credential, inout URLRequest) -> Void,
        refresh: @escaping @Sendable (Credential?) async throws -> Credential,
        isExpired: @escaping @Sendable (Credential) -> Bool = { _ in false }
    ) {
        self.maximumAttempts = maximumAttempts
        state = Locked(CredentialHistory(credential, maximumRefreshes: maximumRefreshes, window: window))
        self.clock = RequestClock(clock)
        self.refreshTimeLimit = refreshTimeLimit
        self.apply = apply
        self.refresh = refresh
        self.isExpired = isExpired
    }

    /// The credential that requests carry now. `nil` before the first renewal, and after ``replace(with:)`` with `nil`.
    public var credential: Credential? { state.withLock { $0.current?.credential } }

    /// Sets another credential, for example after a login or a logout.
    ///
    /// A running renewal then no longer changes the credential. Requests that wait for that renewal, before they are
    /// sent or after a 401, continue with the new credential. With `nil` they are cancelled.
    public func replace(with credential: Credential?) {
        let result = credential.map(Result.success) ?? .failure(CancellationError() as any Error)
        for answer in state.withLock({ $0.replace(with: credential) }) { answer.resume(with: result) }
    }

    /// Puts the credential into requests. It waits while the credential is renewed.
    public var adapter: RequestAdapter {
        RequestAdapter { [self] request in
            guard !CredentialProvider.isRunning(for: self) else { return request }
            let credential = try await usableCredential()
            var authorized = request
            apply(credential, &authorized)
            return authorized
        }
    }

    /// Sends rejected requests again after the credential was renewed.
    public var decider: RetryDecider {
        .afterRefusal(by: self, maximumAttempts: maximumAttempts) { [self] _, failure in
            guard let refused = generation(in: failure.request) else { return false }
            do { _ = try await credential(after: refused) } catch is TooManyRefreshes { return false }
            return true
        }
    }

    private func usableCredential() async throws -> Credential {
        let present = state.withLock { $0.isRefreshing ? nil : $0.current }
        if let present, !isExpired(present.credential) { return present.credential }
        do {
            return try await credential(after: present?.generation)
        } catch let error as TooManyRefreshes {
            // The server may still accept it.
            guard let present else { throw error.asRequestError }
            return present.credential
        }
    }

    /// The generation of the credential that a request carries, if it is one of this object's credentials.
    private func generation(in request: URLRequest) -> Int? {
        state.withLock { $0.known }.last { known in
            var authorized = request
            apply(known.credential, &authorized)
            // On Linux, Foundation treats requests that differ in a field as equal.
            return authorized.url == request.url && authorized.allHTTPHeaderFields == request.allHTTPHeaderFields
        }?.generation
    }

    /// The credential after a given generation: the present one, or the next one.
    private func credential(after generation: Int?) async throws -> Credential {
        let answer = Answer<Credential>()
        // The clock is read before the lock is taken, because it may run foreign code.
        let now = clock.now
        let step = try state.withLock { try $0.step(after: generation, at: now, answer) }
        switch step {
        case .use(let credential): return credential
        case .wait: break
        case .refresh(let number, let old): startRefresh(number, of: old)
        }
        return try await answer.cancellableValue { state.withLock { $0.leave(answer) } }
    }

    private func startRefresh(_ number: Int, of old: Credential?) {
        // This is read here because a detached Task inherits nothing. Its requests must not wait for callers that wait
        // for it.
        let running = CredentialProvider.running.union([ObjectIdentifier(self)])
        Task.detached { [self] in
            let result = await Result {
                try await TimeLimit.run(refreshTimeLimit, on: clock, exceeded: Self.timedOut) { [self] in
                    try await CredentialProvider.$running.withValue(running) { try await refresh(old) }
                }
            }
            endRefresh(number, with: result)
        }
    }

    private func endRefresh(_ number: Int, with result: Result<Credential, any Error>) {
        for answer in state.withLock({ $0.endRefresh(number, with: result) }) { answer.resume(with: result) }
    }

    @Sendable private static func timedOut(after limit: Duration) -> any Error {
        RequestError(.timedOut, stage: .process, reason: "the renewal of the credential took longer than \(limit)")
    }
}

extension RequestConfiguration {
    /// Adds a credential to all requests. Requests that the server rejects because of it are sent again after a
    /// renewal.
    public mutating func authenticate<Credential>(with credential: RefreshingCredential<Credential>) {
        adapters.append(credential.adapter)
        retryDeciders.append(credential.decider)
    }
}

/// The objects that get a credential on the current Task. They do not authenticate the requests of that Task.
enum CredentialProvider {
    @TaskLocal static var running: Set<ObjectIdentifier> = []

    static func isRunning(for object: AnyObject) -> Bool { running.contains(ObjectIdentifier(object)) }
}

extension RetryDecider {
    /// Sends a request again that its server refused with 401, if there is another credential.
    ///
    /// - Parameters:
    ///   - object: The object that gets credentials.
    ///   - maximumAttempts: The most attempts of a request.
    ///   - renew: Returns whether there is another credential. If it throws, the request fails.
    static func afterRefusal(
        by object: some AnyObject & Sendable, maximumAttempts: Int,
        _ renew: @escaping @Sendable (ResponseHead, AttemptFailure) async throws -> Bool
    ) -> RetryDecider {
        RetryDecider { failure, decision in
            guard let head = failure.head, head.status == 401, failure.bodyIsReplayable,
                failure.attempt < maximumAttempts, !CredentialProvider.isRunning(for: object),
                // The credential was not shown to another host: redirects drop it before they go there.
                Origin(head.url) == Origin(failure.request.url),
                !failure.wasRedirected || RetryPolicy.isIdempotent(failure.request)
            else { return decision }
            do {
                return try await renew(head, failure) ? .retry(after: .zero) : decision
            } catch is CancellationError {
                return .fail(CancellationError())
            } catch {
                return .fail(error)
            }
        }
    }
}

/// The credentials of a ``RefreshingCredential`` and its single renewal, as a pure state machine.
struct CredentialHistory<Credential: Sendable>: Sendable {
    struct Known: Sendable {
        let generation: Int
        let credential: Credential
    }

    enum Step: Sendable {
        case use(Credential)
        /// The caller waits for the given answer.
        case wait
        /// Like `wait`, but the caller also starts the renewal with this number, of the present credential.
        case refresh(Int, of: Credential?)
    }

    private enum Phase: Sendable {
        case idle
        /// The renewal with this number is running.
        case refreshing(Int)
    }

    /// How many credentials are kept. A request that was running during that many renewals is no longer recognized.
    private static var limit: Int { 4 }

    private let maximumRefreshes: Int
    private let window: Duration
    /// The latest credentials, with the newest at the end.
    private(set) var known: [Known] = []
    private(set) var current: Known?
    private var nextGeneration = 0
    private var phase = Phase.idle
    /// The callers that wait for the renewal. They are stored beside the phase, because a case with them would copy
    /// them at each change.
    private var waiters: [ObjectIdentifier: Answer<Credential>] = [:]
    /// The start times of the renewals in the window.
    private var begun: [Duration] = []

    init(_ credential: Credential?, maximumRefreshes: Int, window: Duration) {
        self.maximumRefreshes = maximumRefreshes
        self.window = window
        set(credential)
    }

    var isRefreshing: Bool {
        if case .idle = phase { false } else { true }
    }

    /// Decides what a caller does whose credential was rejected.
    ///
    /// - Parameters:
    ///   - generation: The generation of the rejected credential; `nil` if there was none.
    ///   - now: The present time.
    ///   - answer: Receives the next credential. It is not stored if a newer credential already exists.
    /// - Throws: ``TooManyRefreshes``.
    mutating func step(
        after generation: Int?, at now: Duration, _ answer: Answer<Credential>
    ) throws(TooManyRefreshes) -> Step {
        if isRefreshing {
            waiters[ObjectIdentifier(answer)] = answer
            return .wait
        }
        if let current, current.generation != generation { return .use(current.credential) }
        begun.removeAll { [window] in now - $0 >= window }
        guard begun.count < maximumRefreshes else { throw TooManyRefreshes(count: maximumRefreshes, window: window) }
        begun.append(now)
        nextGeneration += 1
        phase = .refreshing(nextGeneration)
        waiters[ObjectIdentifier(answer)] = answer
        return .refresh(nextGeneration, of: current?.credential)
    }

    /// Removes a waiting caller. Returns `false` if its answer is about to come.
    mutating func leave(_ answer: Answer<Credential>) -> Bool {
        waiters.removeValue(forKey: ObjectIdentifier(answer)) != nil
    }

    /// Ends a renewal and returns the callers that wait for it. It returns none if the credential was replaced
    /// meanwhile, or if the renewal ran out of time.
    mutating func endRefresh(_ number: Int, with result: Result<Credential, any Error>) -> [Answer<Credential>] {
        guard case .refreshing(number) = phase else { return [] }
        if case .success(let credential) = result { set(credential) }
        return takeWaiters()
    }

    /// Replaces the credential, and returns the callers that wait for a running renewal. The result of that renewal is
    /// ignored.
    mutating func replace(with credential: Credential?) -> [Answer<Credential>] {
        set(credential)
        return takeWaiters()
    }

    private mutating func takeWaiters() -> [Answer<Credential>] {
        phase = .idle
        defer { waiters = [:] }
        return Array(waiters.values)
    }

    private mutating func set(_ credential: Credential?) {
        nextGeneration += 1
        current = credential.map { Known(generation: nextGeneration, credential: $0) }
        if let current { known.append(current) }
        if known.count > Self.limit { known.removeFirst() }
    }
}

/// The credential was renewed so often within the window that another renewal is unlikely to help.
struct TooManyRefreshes: Error {
    let count: Int
    let window: Duration

    var asRequestError: RequestError {
        RequestError(
            .stageFailed, stage: .process, underlying: self,
            reason: "the credential was refreshed \(count) times within \(window)")
    }
}
