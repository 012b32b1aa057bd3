/// How requests to each server are authenticated, as its last challenge and the provider said. A pure value.
struct AuthenticationState: Sendable {
    /// A challenge, and what it is answered with.
    struct Answer: Sendable {
        let challenge: AuthenticationChallenge
        let credential: ServerCredential
        /// Our part of the scheme Digest, a random text.
        let clientNonce: String
        /// How many requests were made with it.
        fileprivate(set) var count = 0

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

    /// Whether a request carries an answer of this state, rather than a field from another source.
    func made(_ request: URLRequest, for origin: Origin) -> Bool {
        answers[origin]?.contains { $0.isCarried(by: request) } ?? false
    }

    /// What follows the challenges of a server that refused a request.
    ///
    /// - Parameters:
    ///   - challenges: Those that can be answered.
    ///   - origin: The server.
    ///   - request: The request, without an `Authorization` field from another source.
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
        keep(
            Answer(challenge: challenge, credential: answer.credential, clientNonce: answer.clientNonce), for: origin)
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

/// The scheme `Basic` (RFC 7617).
enum BasicAuthorization {
    /// The value of an `Authorization` field.
    ///
    /// - Returns: `nil` if the user has a colon, because the password begins after the first colon (section 2).
    static func field(user: String, password: String) -> String? {
        guard !user.utf8.contains(UInt8(ascii: ":")) else { return nil }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

/// The scheme `Digest` (RFC 7616). A pure function of the challenge, the credential and the request.
struct DigestAuthorization: Sendable {
    private let challenge: AuthenticationChallenge
    private let hash: MessageDigest
    private let usesQuality: Bool
    /// Whether the key is one of a session: the first nonces of both sides are part of it (RFC 7616, section 3.4.2).
    private let usesSession: Bool

    /// Reads a challenge. `nil` if it has no nonce, or asks for an algorithm or a quality of protection that we do not have.
    ///
    /// We do not have the quality `auth-int`, since it covers the body, which may be a stream.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", challenge.parameters["nonce"] != nil else { return nil }
        let algorithm = (challenge.parameters["algorithm"] ?? "MD5").lowercased()
        let suffix = "-sess"
        usesSession = algorithm.hasSuffix(suffix)
        let name = usesSession ? String(algorithm.dropLast(suffix.count)) : algorithm
        guard let hash = MessageDigest(name: name) else { return nil }
        let qualities = challenge.parameters["qop"]?.lowercased().split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        // Without the parameter the server follows RFC 2069.
        guard qualities?.contains("auth") ?? !usesSession else { return nil }
        self.challenge = challenge
        self.hash = hash
        usesQuality = qualities != nil
    }

    /// How strong the algorithm is. A stronger one is preferred.
    var strength: Int { hash.strength }

    /// The value of an `Authorization` field.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - password: The password.
    ///   - method: The method of the request.
    ///   - target: The path and query of the request, as they are sent.
    ///   - count: How many requests have used the nonce, this one included.
    ///   - clientNonce: A random text of tokens, the same for all requests with the nonce of the challenge. Servers disagree
    ///     whether the key of a session has that of the first request or of each.
    /// - Returns: `nil` if the system's library does not have the algorithm.
    func field(
        user: String, password: String, method: String, target: String, count: Int, clientNonce: String
    ) -> String? {
        let nonce = challenge.parameters["nonce"] ?? ""
        let realm = challenge.realm ?? ""
        let digits = String(count, radix: 16)
        let counter = String(repeating: "0", count: max(8 - digits.count, 0)) + digits
        guard let secret = secret("\(user):\(realm):\(password)", nonce, clientNonce),
            let subject = hash.hexadecimal(of: "\(method):\(target)")
        else { return nil }
        let middle = usesQuality ? "\(nonce):\(counter):\(clientNonce):auth" : nonce
        guard let response = hash.hexadecimal(of: "\(secret):\(middle):\(subject)") else { return nil }
        var parts = userParts(user, realm)
        parts += ["realm=\(Self.quoted(realm))", "uri=\(Self.quoted(target))", "nonce=\(Self.quoted(nonce))"]
        if let algorithm = challenge.parameters["algorithm"] { parts.append("algorithm=\(algorithm)") }
        parts.append("response=\"\(response)\"")
        if let opaque = challenge.parameters["opaque"] { parts.append("opaque=\(Self.quoted(opaque))") }
        if usesQuality { parts += ["qop=auth", "nc=\(counter)", "cnonce=\(Self.quoted(clientNonce))"] }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func secret(_ text: String, _ nonce: String, _ clientNonce: String) -> String? {
        let secret = hash.hexadecimal(of: text)
        guard usesSession, let secret else { return secret }
        return hash.hexadecimal(of: "\(secret):\(nonce):\(clientNonce)")
    }

    /// The parameters for the user (RFC 7616, sections 3.4.3 and 3.4.4).
    ///
    /// Only a server that names the charset reads `username*`. To others we send the bytes of UTF-8 as they are, as curl does.
    private func userParts(_ user: String, _ realm: String) -> [String] {
        if challenge.parameters["userhash"]?.lowercased() == "true",
            let hidden = hash.hexadecimal(of: "\(user):\(realm)")
        {
            return ["username=\"\(hidden)\"", "userhash=true"]
        }
        let acceptsUTF8 = challenge.parameters["charset"]?.lowercased() == "utf-8"
        let isPlain = user.unicodeScalars.allSatisfy {
            $0.isASCII ? (0x20..<0x7F).contains($0.value) : !acceptsUTF8
        }
        guard isPlain else {
            return ["username*=UTF-8''\(PercentEncoding.unreserved.encoded(user))"]
        }
        return ["username=\(Self.quoted(user))"]
    }

    /// A quoted string (RFC 9110, section 5.6.4). Control characters, which a field cannot have, are dropped.
    static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars where scalar.value >= 0x20 && scalar.value != 0x7F {
            if scalar == "\"" || scalar == "\\" { quoted.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
