/// How requests to each server are authenticated, as its last challenge and the provider said. A pure value.
struct AuthenticationState: Sendable {
    /// A challenge, and what it is answered with.
    struct Answer: Sendable {
        let challenge: AuthenticationChallenge
        let credential: ServerCredential
        /// How many requests were made with it.
        fileprivate(set) var count = 0

        init(_ challenge: AuthenticationChallenge, _ credential: ServerCredential) {
            self.challenge = challenge
            self.credential = credential
        }

        /// The value of an `Authorization` field; `nil` if the credential does not fit the challenge.
        ///
        /// - Parameters:
        ///   - request: The request.
        ///   - clientNonce: A random text, for the scheme Digest.
        func field(for request: URLRequest, clientNonce: String) -> String? {
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
            guard challenge.scheme == "digest" else { return sent == field(for: request, clientNonce: "") }
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

    private var answers: [Origin: Answer] = [:]

    /// The answer for the next request to a server; `nil` before its first challenge.
    mutating func next(for origin: Origin) -> Answer? {
        answers[origin]?.count += 1
        return answers[origin]
    }

    /// Keeps an answer for all later requests to a server.
    mutating func keep(_ answer: Answer, for origin: Origin) {
        if answers[origin] == nil, answers.count >= Self.mostServers { answers.removeAll() }
        answers[origin] = answer
    }

    /// What follows the challenge of a server that refused a request.
    ///
    /// - Parameters:
    ///   - challenge: The challenge.
    ///   - request: The request, as it was sent to this server; `nil` if that is not known.
    mutating func step(after challenge: AuthenticationChallenge, of origin: Origin, _ request: URLRequest?) -> Step {
        guard let answer = answers[origin], answer.challenge.scheme == challenge.scheme else {
            return .ask(refused: nil)
        }
        // The answer may have become known after the request was made.
        guard let request, answer.isCarried(by: request) else { return .sendAgain }
        // A nonce that was good before is too old now, even if the server does not say so (RFC 7616, section 3.3).
        let isStale = challenge.parameters["stale"]?.lowercased() == "true" || answer.count > 1
        guard challenge.scheme == "digest", isStale else { return .ask(refused: answer.credential) }
        keep(Answer(challenge, answer.credential), for: origin)
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
