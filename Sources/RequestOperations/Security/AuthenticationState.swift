/// How requests to each server are authenticated, as its last challenge and the provider said. A pure value.
struct AuthenticationState: Sendable {
    /// A challenge, and what it is answered with.
    struct Answer: Sendable {
        let challenge: AuthenticationChallenge
        let credential: ServerCredential
        /// Our part of the scheme Digest, a random text.
        private let clientNonce: String
        /// How many requests were made with it.
        fileprivate(set) var count = 0

        init(_ challenge: AuthenticationChallenge, _ credential: ServerCredential, clientNonce: String) {
            self.challenge = challenge
            self.credential = credential
            self.clientNonce = clientNonce
        }

        /// The answer to a later challenge, with the same credential.
        fileprivate func repeated(for challenge: AuthenticationChallenge) -> Answer {
            Answer(challenge, credential, clientNonce: clientNonce)
        }

        /// The value of an `Authorization` field; `nil` if the credential does not fit the challenge.
        func field(for request: URLRequest) -> String? {
            switch (challenge.scheme, credential) {
            case ("basic", .password(let user, let password)):
                BasicAuthorization.field(user: user, password: password)
            case ("bearer", .token(let token)):
                "Bearer \(token)"
            case ("digest", .password(let user, let password)):
                DigestAuthorization(challenge)?.field(
                    user: user, password: password, method: request.httpMethod ?? "GET", target: request.target,
                    count: max(count, 1), clientNonce: clientNonce)
            default: nil
            }
        }

        /// Whether a request carried this answer.
        fileprivate func isCarried(by request: URLRequest) -> Bool {
            guard let sent = request.value(forHTTPHeaderField: "Authorization") else { return false }
            guard challenge.scheme == "digest" else { return sent == field(for: request) }
            return sent.contains(DigestAuthorization.quoted(challenge.parameters["nonce"] ?? ""))
        }
    }

    /// What follows a challenge.
    enum Step: Sendable {
        /// The request is sent again with what is known.
        case sendAgain
        /// The provider is asked. The server has refused this credential.
        case ask(refused: ServerCredential?)
    }

    /// With more servers, all are asked again as if they were new.
    private static let mostServers = 256
    /// How many answers are remembered of each server, to know a request that was made with an older one.
    private static let mostAnswers = 4

    /// The answers of each server, the one in use last.
    private var answers: [Origin: [Answer]] = [:]

    /// The answer for the next request to a server; `nil` before its first challenge.
    mutating func next(for origin: Origin) -> Answer? {
        guard var known = answers[origin], var answer = known.popLast() else { return nil }
        answer.count += 1
        answers[origin] = known + [answer]
        return answer
    }

    /// Keeps an answer for all later requests to a server.
    mutating func keep(_ answer: Answer, for origin: Origin) {
        if answers[origin] == nil, answers.count >= Self.mostServers { answers.removeAll() }
        answers[origin] = ((answers[origin] ?? []) + [answer]).suffix(Self.mostAnswers)
    }

    /// Whether a request carries an answer of this state, rather than a field that somebody else has set.
    func made(_ request: URLRequest, for origin: Origin) -> Bool {
        answers[origin]?.contains { $0.isCarried(by: request) } ?? false
    }

    /// What follows the challenges of a server that refused a request.
    ///
    /// - Parameters:
    ///   - challenges: Those that can be answered.
    ///   - origin: The server.
    ///   - request: The request, without a field of somebody else.
    mutating func step(after challenges: [AuthenticationChallenge], of origin: Origin, _ request: URLRequest) -> Step {
        guard let answer = answers[origin]?.last,
            let challenge = challenges.first(where: {
                $0.scheme == answer.challenge.scheme && $0.realm == answer.challenge.realm
            })
        else { return .ask(refused: nil) }
        // The answer may have become known after the request was made.
        guard answer.isCarried(by: request) else { return .sendAgain }
        // Only with this word the credential is right, and the nonce too old (RFC 7616, section 3.3).
        guard challenge.scheme == "digest", challenge.parameters["stale"]?.lowercased() == "true" else {
            return .ask(refused: answer.credential)
        }
        keep(answer.repeated(for: challenge), for: origin)
        return .sendAgain
    }
}

extension URLRequest {
    /// The path and the query, as they are sent (RFC 9112, section 3.2.1).
    fileprivate var target: String {
        guard let url, let parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "/" }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        return path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    }
}
