/// A credential that is renewed when a server refuses it: once for all requests that were refused, which are then sent
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
/// Each request carries the credential that counts when it is processed. During a renewal requests wait, without a slot.
///
/// A request that fails with 401 (RFC 9110, section 15.5.2) is sent again with the new credential, whatever the retry
/// policy says. The server did nothing, so the method does not matter. But the body has to be replayable. After a redirect
/// the server did something, and the 401 answers what followed. Then only an idempotent request is sent again, or one with
/// an `Idempotency-Key`.
///
/// These requests cause no renewal:
///
/// - one that carried an older credential than the present one
/// - one that carried none of this object's credentials
/// - one whose 401 came, by way of a redirect, from another scheme, host or port than it was sent to
///
/// Two guards prevent endless renewals. A request has at most ``maximumAttempts`` attempts, and the credential is renewed
/// at most so many times in a span of time. Beyond that, the 401 is the failure. A third guard is the time limit: a
/// renewal that hangs does not hold up all requests.
///
/// This object ignores a request that the refresh closure makes, whatever its configuration. Such a request must not need
/// a place in a queue that the waiting requests fill.
public final class RefreshingCredential<Credential: Sendable>: Sendable {
    /// How many attempts a refused request may have made, to be sent once more: 4 by default. The policy's retries count
    /// among them.
    public let maximumAttempts: Int

    private let state: Locked<CredentialHistory<Credential>>
    private let clock: RequestClock
    private let refreshTimeLimit: Duration?
    private let apply: @Sendable (Credential, inout URLRequest) -> Void
    private let refresh: @Sendable (Credential?) async throws -> Credential
    private let isExpired: @Sendable (Credential) -> Bool

    /// Makes a credential.
    ///
    /// - Parameters:
    ///   - credential: What is known at first. With `nil`, the first request has it refreshed.
    ///   - maximumAttempts: See ``maximumAttempts``. 4 by default.
    ///   - maximumRefreshes: How many times it is renewed at most in the time of `window`. 5 by default.
    ///   - window: 30 s by default.
    ///   - refreshTimeLimit: The longest time of one renewal. After it, those that wait fail as
    ///     ``RequestError/Code/timedOut``. The Task of the renewal is cancelled, its later result is dropped, and the next
    ///     request begins another renewal. 30 s by default; `nil` is none.
    ///   - clock: Measures the window and the time limit. The continuous clock by default.
    ///   - apply: Puts a credential into the fields or the URL of a request. It must give the same for the same input,
    ///     since it also tells which credential a refused request carried. Applied to a request that has the credential
    ///     already, it must change nothing. (So it sets a field, and does not append to one.)
    ///   - refresh: Gets a new credential from the refused one, if there was one. It runs in a detached Task, and is not
    ///     cancelled with the requests that wait for it. It never runs twice at the same time, except after
    ///     ``replace(with:)`` or the time limit. If it throws, the waiting requests fail with its error; a
    ///     `CancellationError` cancels them.
    ///   - isExpired: Whether a credential need not be tried any more. Called for each attempt. Never by default.
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

    /// What requests carry now; `nil` before the first renewal, and after ``replace(with:)`` with `nil`.
    public var credential: Credential? { state.withLock { $0.current?.credential } }

    /// Sets another credential, as after a login or a logout.
    ///
    /// A renewal that is under way does not change it any more. Requests that wait for that, before they are sent or after a
    /// 401, go on with the new one; with `nil` they are cancelled.
    public func replace(with credential: Credential?) {
        let result = credential.map(Result.success) ?? .failure(CancellationError() as any Error)
        for answer in state.withLock({ $0.replace(with: credential) }) { answer.resume(with: result) }
    }

    /// Puts the credential into requests; waits while it is renewed.
    public var adapter: RequestAdapter {
        RequestAdapter { [self] request in
            guard !CredentialRefresh.isRunning(for: self) else { return request }
            let credential = try await usableCredential()
            var authorized = request
            apply(credential, &authorized)
            return authorized
        }
    }

    /// Has requests that were refused sent again, when the credential was renewed.
    public var decider: RetryDecider {
        RetryDecider { [self] failure, decision in
            guard failure.head?.status == 401, failure.bodyIsReplayable, failure.attempt < maximumAttempts,
                !CredentialRefresh.isRunning(for: self),
                // Another host was not shown the credential: redirects drop it on the way there.
                let head = failure.head, Origin(head.url) == Origin(failure.request.url),
                !failure.wasRedirected || RetryPolicy.isIdempotent(failure.request),
                let refused = generation(in: failure.request)
            else { return decision }
            do {
                _ = try await credential(after: refused)
                return .retry(after: .zero)
            } catch is CancellationError {
                return .fail(CancellationError())
            } catch is TooManyRefreshes {
                return decision
            } catch {
                return .fail(error)
            }
        }
    }

    private func usableCredential() async throws -> Credential {
        let present = state.withLock { $0.isRefreshing ? nil : $0.current }
        if let present, !isExpired(present.credential) { return present.credential }
        do {
            return try await credential(after: present?.generation)
        } catch let error as TooManyRefreshes {
            // It may be good enough for the server.
            guard let present else { throw error.asRequestError }
            return present.credential
        }
    }

    /// Which credential a request carries, if it is one of this object's.
    private func generation(in request: URLRequest) -> Int? {
        state.withLock { $0.known }.last { known in
            var authorized = request
            apply(known.credential, &authorized)
            // Requests that differ in a field are equal to Foundation on Linux.
            return authorized.url == request.url && authorized.allHTTPHeaderFields == request.allHTTPHeaderFields
        }?.generation
    }

    /// The credential that comes after one: the present one, or the next.
    private func credential(after generation: Int?) async throws -> Credential {
        let answer = Answer<Credential>()
        // Before the lock: the clock may be code of others.
        let now = clock.now
        let step = try state.withLock { try $0.step(after: generation, at: now, answer) }
        switch step {
        case .use(let credential): return credential
        case .wait: break
        case .refresh(let number, let old): startRefresh(number, of: old)
        }
        return try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            state.withLock { $0.leave(answer) }
            answer.resume(with: .failure(CancellationError()))
        }
    }

    private func startRefresh(_ number: Int, of old: Credential?) {
        // Read here: a detached Task inherits nothing, and its requests must not wait for those that wait for it.
        let running = CredentialRefresh.running.union([ObjectIdentifier(self)])
        let task = Task.detached { [self] in
            let result = await CredentialRefresh.$running.withValue(running) {
                await Result { try await refresh(old) }
            }
            endRefresh(number, with: result)
        }
        guard let refreshTimeLimit else { return }
        let alarm = clock.alarm(after: refreshTimeLimit) { [weak self] in
            // Off the queue of the deadlines: cancelling runs the handlers of user code.
            DispatchQueue.global().async { [weak self] in
                self?.endRefresh(number, with: .failure(Self.timedOut(after: refreshTimeLimit)))
                task.cancel()
            }
        }
        Task.detached {
            await task.value
            alarm.cancel()
        }
    }

    private func endRefresh(_ number: Int, with result: Result<Credential, any Error>) {
        for answer in state.withLock({ $0.endRefresh(number, with: result) }) { answer.resume(with: result) }
    }

    private static func timedOut(after limit: Duration) -> RequestError {
        RequestError(.timedOut, stage: .process, reason: "the renewal of the credential took longer than \(limit)")
    }
}

extension RequestConfiguration {
    /// Has requests carry a credential, and those that are refused for it sent again when it was renewed.
    public mutating func authenticate<Credential>(with credential: RefreshingCredential<Credential>) {
        adapters.append(credential.adapter)
        retryDeciders.append(credential.decider)
    }
}

/// The credentials that are being renewed by the current Task, whose own requests go without.
private enum CredentialRefresh {
    @TaskLocal static var running: Set<ObjectIdentifier> = []

    static func isRunning(for credential: AnyObject) -> Bool {
        running.contains(ObjectIdentifier(credential))
    }
}
