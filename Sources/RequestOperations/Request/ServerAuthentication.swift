/// Answers the challenges of servers (status 401) by the schemes Basic, Bearer and Digest.
///
/// ```swift
/// configuration.authenticate(
///     with: ServerAuthentication { challenge in
///         guard challenge.url?.host == "api.example.com", challenge.refused == nil else { return nil }
///         return .password(user: "ada", password: try await keychain.password())
///     })
/// ```
///
/// The first request to a server goes without credentials. Its challenge is answered, and the request is sent again at once.
/// Later requests to that server have the answer from the start.
///
/// - If a response has several challenges, the strongest one with a credential is answered: Digest with SHA-512/256, with
///   SHA-256, with MD5, then Bearer, then Basic.
/// - Digest (RFC 7616) covers the method and the URL, not the body (`auth`, not `auth-int`). The uses of a nonce are counted,
///   and a stale nonce is replaced without asking the provider.
/// - Basic and Bearer go over https, or to this machine, and otherwise only if `allowsInsecure` says so.
/// - Only the original server of the request is answered, not the target of a redirect. If a server has several realms, later
///   requests carry the answer for the realm that asked last.
/// - A request must be replayable. A redirected request must also be idempotent.
/// - A server whose schemes are all unknown fails the request as ``RequestError/Code/unsupportedAuthentication``.
/// - A request that already has another `Authorization` field stays unchanged, and its 401 is not answered.
public final class ServerAuthentication: Sendable {
    /// Gets a credential for a challenge. If it returns `nil`, the next challenge of the response is tried. If none is left,
    /// the request fails with the 401.
    ///
    /// It is called once for all requests that a server refuses at the same time, on a Task of its own. If it throws, those
    /// requests fail, with its error as ``RequestError/underlying``. This object does not authenticate requests that the
    /// provider itself makes.
    public typealias Provider = @Sendable (AuthenticationChallenge) async throws -> ServerCredential?

    let allowsInsecure: Bool

    let maximumAttempts: Int

    private struct State {
        var known = AuthenticationState()
        /// The questions to the provider that have no answer yet.
        var questions: [Origin: Task<Bool, any Error>] = [:]
    }

    private let state = Locked(State())
    private let provide: Provider
    private let providerTimeLimit: Duration?
    private let random: RandomSource

    /// Makes an authentication.
    ///
    /// - Parameters:
    ///   - allowsInsecure: Whether Basic and Bearer may go over http to another machine, where everybody on the way can read
    ///     them. `false` by default.
    ///   - maximumAttempts: The most attempts of a request that a server refuses. 4 by default. Attempts by the retry policy
    ///     count as well.
    ///   - providerTimeLimit: The longest time to get a credential. After it, the waiting requests fail as
    ///     ``RequestError/Code/timedOut``, and the next request asks again. 60 s by default; `nil` means no limit.
    ///   - random: Makes the random texts of Digest. The system's source by default.
    ///   - provide: Gets a credential for a challenge.
    public init(
        allowsInsecure: Bool = false, maximumAttempts: Int = 4, providerTimeLimit: Duration? = .seconds(60),
        random: RandomSource = .system, provide: @escaping Provider
    ) {
        self.allowsInsecure = allowsInsecure
        self.maximumAttempts = maximumAttempts
        self.providerTimeLimit = providerTimeLimit
        self.random = random
        self.provide = provide
    }

    /// Makes an authentication of one user at one server.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - password: The password.
    ///   - server: A URL of the server. Only its scheme, host and port count.
    ///   - allowsInsecure: As for the other initialiser. `false` by default.
    public convenience init(user: String, password: String, at server: URL, allowsInsecure: Bool = false) {
        self.init(allowsInsecure: allowsInsecure) { challenge in
            guard challenge.refused == nil, Origin(challenge.url) == Origin(server) else { return nil }
            return .password(user: user, password: password)
        }
    }

    // MARK: Requests

    /// Puts the answer into a request to a server whose challenge is known.
    var adapter: RequestAdapter { RequestAdapter { [self] in authorized($0) } }

    /// The request with the answer, if the server is known. A request that the caller has authorized stays unchanged.
    func authorized(_ request: URLRequest) -> URLRequest {
        guard let url = request.url, !CredentialProvider.isRunning(for: self) else { return request }
        let hasField = request.value(forHTTPHeaderField: "Authorization") != nil
        let known = state.withLock { state -> AuthenticationState.Answer? in
            // A request that is redirected has a field of ours for its old URL.
            guard !hasField || state.known.made(request, for: Origin(url)) else { return nil }
            return state.known.next(for: Origin(url))
        }
        guard let field = known?.field(for: request) else { return request }
        var authorized = request
        authorized.setField("Authorization", to: field)
        return authorized
    }

    private func makeClientNonce() -> String {
        (0..<2).map { _ in String(UInt64(random.next() * 0x1p53), radix: 16) }.joined()
    }

    // MARK: Challenges

    /// Sends a refused request again, if its challenge can be answered.
    var decider: RetryDecider {
        .afterRefusal(by: self, maximumAttempts: maximumAttempts) { [self] in try await answers($0, to: $1) }
    }

    private func answers(_ head: ResponseHead, to failure: AttemptFailure) async throws -> Bool {
        let all = AuthenticationChallenge.list(in: head)
        guard !all.isEmpty else { return false }
        let origin = Origin(head.url)
        let hasField = failure.request.value(forHTTPHeaderField: "Authorization") != nil
        guard !hasField || state.withLock({ $0.known.made(failure.request, for: origin) }) else { return false }
        let usable = all.filter { $0.strength > 0 && mayAnswer($0, of: origin) }.sorted { $0.strength > $1.strength }
        guard !usable.isEmpty else { throw unsupported(all, head) }
        let running = state.withLock { state -> Task<Bool, any Error>? in
            if let running = state.questions[origin] { return running }
            guard case .ask(let refused) = state.known.step(after: usable, of: origin, failure.request) else {
                return nil
            }
            let question = question(about: usable, at: head.url, refused: refused, of: origin)
            state.questions[origin] = question
            return question
        }
        return try await running?.value ?? true
    }

    /// Asks the provider. The Task belongs to all requests that wait for it.
    private func question(
        about challenges: [AuthenticationChallenge], at url: URL, refused: ServerCredential?, of origin: Origin
    ) -> Task<Bool, any Error> {
        let running = CredentialProvider.running.union([ObjectIdentifier(self)])
        return Task.detached { [self] in
            defer { state.withLock { $0.questions[origin] = nil } }
            return try await TimeLimit.run(
                providerTimeLimit, on: RequestClock.continuous, exceeded: Self.timedOut
            ) { [self] in
                try await CredentialProvider.$running.withValue(running) {
                    try await ask(about: challenges, at: url, refused: refused, of: origin)
                }
            }
        }
    }

    /// Asks the provider about each challenge, until it has a credential. Returns whether it has one.
    private func ask(
        about challenges: [AuthenticationChallenge], at url: URL, refused: ServerCredential?, of origin: Origin
    ) async throws -> Bool {
        for challenge in challenges {
            var asked = challenge
            asked.url = URL(string: Redaction.location(of: url))
            asked.refused = refused
            guard let credential = try await provide(asked), credential != refused else { continue }
            let answer = AuthenticationState.Answer(
                challenge: challenge, credential: credential, clientNonce: makeClientNonce())
            guard answer.field(for: URLRequest(url: url)) != nil else { continue }
            state.withLock { $0.known.keep(answer, for: origin) }
            return true
        }
        return false
    }

    @Sendable private static func timedOut(after limit: Duration) -> any Error {
        RequestError(.timedOut, stage: .retryDecision, reason: "the provider of credentials took longer than \(limit)")
    }

    private func mayAnswer(_ challenge: AuthenticationChallenge, of origin: Origin) -> Bool {
        challenge.scheme == "digest" || origin.scheme == "https" || allowsInsecure || origin.isThisMachine
    }

    private func unsupported(_ challenges: [AuthenticationChallenge], _ head: ResponseHead) -> RequestError {
        let known = challenges.filter { $0.strength > 0 }
        let reason =
            known.isEmpty
            ? "the server asks for " + challenges.map(\.scheme).joined(separator: ", ")
            : "the server asks for \(known[0].scheme) over http, where everybody on the way can read it"
        return RequestError(.unsupportedAuthentication, stage: .retryDecision, head: head, reason: reason)
    }
}

extension RequestConfiguration {
    /// Answers the challenges of servers. See ``ServerAuthentication``.
    public mutating func authenticate(with authentication: ServerAuthentication) {
        adapters.append(authentication.adapter)
        retryDeciders.append(authentication.decider)
        self.authentication = authentication
    }
}

extension ServerAuthentication: CustomStringConvertible, OpaqueReflectable {
    /// Only the name of the type.
    public var description: String { "ServerAuthentication" }
}

extension AuthenticationChallenge {
    /// How strong the scheme is, from 1. 0 if it is unknown.
    fileprivate var strength: Int {
        switch scheme {
        case "basic": 1
        case "bearer": 2
        case "digest": DigestAuthorization(self).map { 2 + $0.strength } ?? 0
        default: 0
        }
    }
}

extension Origin {
    /// Whether the name or the address is one that never leaves the machine (RFC 6761, section 6.3).
    fileprivate var isThisMachine: Bool {
        host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
            || host.hasPrefix("127.") && host.split(separator: ".").count == 4
                && host.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    }
}

/// A credential that a request can present to a server.
public enum ServerCredential: Sendable, Hashable {
    /// A user and a password, for the schemes Digest (RFC 7616) and Basic (RFC 7617).
    case password(user: String, password: String)
    /// A token, for the scheme Bearer (RFC 6750).
    case token(String)
}

extension ServerCredential: CustomStringConvertible, OpaqueReflectable {
    /// The kind of credential, without its content.
    public var description: String {
        switch self {
        case .password: "user and password"
        case .token: "token"
        }
    }
}
