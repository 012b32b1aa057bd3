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
