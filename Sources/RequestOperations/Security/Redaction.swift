/// What is left out where a request is shown to people: in `curlCommand` and in descriptions.
///
/// Its value is replaced by `redacted`, so that it can be seen that something was there. Names compare without regard to
/// case and to marks such as `-` and `_`, however they were set: `accessToken` and `access_token` are the same.
public struct Redaction: Sendable {
    /// The names of fields whose values are left out.
    public var fields: Set<String> {
        didSet { fieldKeys = Set(fields.map(Self.key)) }
    }

    /// The names of parameters whose values are left out, in queries, fragments, forms and members of JSON.
    public var parameters: Set<String> {
        didSet { parameterKeys = Set(parameters.map(Self.key)) }
    }

    /// Words, and words that follow each other, that hide the value of every field and parameter with them in its name:
    /// `password` hides `newPassword` and `password_confirmation`, and `private key` hides `ssh_private_key`. A word of five
    /// letters or more also counts at the end of another, as in `userpassword`.
    public var words: Set<String> {
        didSet { wordKeys = Set(words.map(Self.key)) }
    }

    private var fieldKeys: Set<String>
    private var parameterKeys: Set<String>
    private var wordKeys: Set<String>

    /// Makes a redaction of the names given, and of nothing else. Users and passwords in URLs are always left out.
    public init(fields: Set<String> = [], parameters: Set<String> = [], words: Set<String> = []) {
        self.fields = fields
        self.parameters = parameters
        self.words = words
        fieldKeys = Set(fields.map(Self.key))
        parameterKeys = Set(parameters.map(Self.key))
        wordKeys = Set(words.map(Self.key))
    }

    /// What commonly bears a credential.
    public static let `default` = Redaction(
        fields: ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "API-Key"],
        parameters: [
            "auth", "key", "pin", "assertion", "code", "code_verifier", "session", "session_id", "sid", "sig",
            "X-Amz-Credential",
        ],
        words: [
            "token", "password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets",
            "credential", "credentials", "signature", "jwt", "otp", "totp", "bearer", "client assertion", "api key",
            "private key", "secret key", "access key", "account key", "subscription key", "signing key",
            "encryption key", "master key", "auth code", "authorization code", "session key", "auth key",
        ])

    /// What stands in place of a value.
    static let mark = "redacted"

    func hides(field name: String) -> Bool {
        fieldKeys.contains(Self.key(name)) || hidesWord(of: name)
    }

    func hides(parameter name: String) -> Bool {
        // Of nested names each part counts: user[password].
        name.unicodeScalars.split { ".[]".unicodeScalars.contains($0) }
            .contains { parameterKeys.contains(Self.key(String($0))) } || hidesWord(of: name)
    }

    /// Whether words of a name that follow each other are among those that no name may have.
    private func hidesWord(of name: String) -> Bool {
        guard !wordKeys.isEmpty else { return false }
        let words = ParameterNaming.snakeCase.name(for: name).unicodeScalars
            .split { !$0.isLetterOrDigit }.map { String($0) }
        for first in words.indices {
            var run = ""
            for word in words[first...].prefix(Self.longestRun) {
                run += word
                if wordKeys.contains(run) { return true }
            }
            // The end of a name without marks is a word where it is long enough to be no accident.
            if wordKeys.contains(where: { $0.utf8.count >= Self.shortestEnd && words[first].hasSuffix($0) }) {
                return true
            }
        }
        return false
    }

    private static let longestRun = 3
    private static let shortestEnd = 5

    private static func key(_ name: String) -> String {
        var key = String.UnicodeScalarView()
        for scalar in name.lowercased().unicodeScalars where scalar.isLetterOrDigit { key.append(scalar) }
        return String(key)
    }

    // MARK: Descriptions

    /// Scheme, host, port and path of a URL: what a description shows of it. A query or a fragment can be a credential as a
    /// whole, whatever its names are, as in a signed URL. A URL with a scheme and no authority, such as `data:`, shows only its
    /// scheme.
    static func location(of url: URL?) -> String {
        guard let url else { return "no URL" }
        return URLReference(url.absoluteString).location(withUserAs: "")
    }

    /// The method of a request and the ``location(of:)`` of its URL.
    static func line(of request: URLRequest) -> String {
        "\(request.httpMethod ?? "GET") \(location(of: request.url))"
    }

    /// A message of a library, which may quote a URL or a proxy: without users, passwords, queries and fragments.
    static func message(_ message: String) -> String {
        // Most messages have neither a user nor a URL.
        guard message.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }) else {
            return message
        }
        // Two steps, since a proxy that cannot be parsed is quoted whole, as its user wrote it.
        return shorteningURLs(in: hidingUsers(inQuotesOf: message))
    }

    /// A message in which no text between apostrophes has an `@`.
    private static func hidingUsers(inQuotesOf message: String) -> String {
        var parts = message.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        var place = 1
        // What stands behind the last apostrophe is not quoted.
        while place < parts.count - 1 {
            let isHidden = parts[place].utf8.contains(UInt8(ascii: "@"))
            if isHidden { parts[place] = mark }
            // An apostrophe that ends a hidden text begins no other.
            place += isHidden ? 2 : 1
        }
        return parts.joined(separator: "'")
    }

    /// A message with the ``location(of:)`` of each URL in its place.
    private static func shorteningURLs(in message: String) -> String {
        var shown = ""
        var rest = message.utf8[...]
        while !rest.isEmpty {
            let word = rest.prefix { !$0.endsURL }
            let end = rest[word.endIndex...].prefix(1)
            shown += shorteningURL(in: word) + String(Substring(end))
            rest = rest[end.endIndex...]
        }
        return shown
    }

    /// A word with the location of the URL that it ends with, if it has one.
    private static func shorteningURL(in word: Substring.UTF8View) -> String {
        let colon = word.indices.first {
            word[$0] == UInt8(ascii: ":") && word[$0...].starts(with: "://".utf8)
        }
        guard let colon else { return String(Substring(word)) }
        let before = word[..<colon]
        let run = before.lastIndex { !$0.isOfScheme }.map(before.index(after:)) ?? before.startIndex
        guard let scheme = before[run...].firstIndex(where: \.isLetter) else {
            return word.contains(UInt8(ascii: "@")) ? mark : String(Substring(word))
        }
        let url = URL(string: String(Substring(word[scheme...])))
        return String(Substring(word[..<scheme])) + (url.map { location(of: $0) } ?? mark)
    }

    // MARK: Parts of requests

    /// A URL without what is left out, as text; of one with a scheme and no authority the scheme. A fragment may hold the
    /// answer of an authorization server (RFC 6749, section 4.2.2), a form as a query is.
    func text(of url: URL) -> String {
        let reference = URLReference(url.absoluteString)
        var location = reference.location(withUserAs: Self.mark + "@")
        guard !reference.isOpaque else { return location }
        if let query = reference.query { location += "?" + form(query) }
        if let fragment = reference.fragment { location += "#" + form(fragment) }
        return location
    }

    /// A form without what is left out. Cut between bytes: a sign with a combining mark after it is another `Character`.
    func form(_ form: String) -> String {
        form.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            .map { pair in
                let name = String(Substring(pair.prefix { $0 != UInt8(ascii: "=") }))
                let plain =
                    name.replacingOccurrences(of: "+", with: " ", options: .literal)
                    .removingPercentEncoding ?? name
                let hasValue = name.utf8.count < pair.count
                return hasValue && hides(parameter: plain) ? "\(name)=\(Self.mark)" : String(Substring(pair))
            }
            .joined(separator: "&")
    }

    /// The JSON of a body without what is left out; `nil` if it is none. It stays as it is if nothing is left out.
    func json(_ body: Data) -> Data? {
        guard let value = try? JSONSerialization.jsonObject(with: body, options: .fragmentsAllowed) else { return nil }
        var hasHidden = false
        let redacted = redacted(value, &hasHidden)
        guard hasHidden else { return body }
        return try? JSONSerialization.data(withJSONObject: redacted, options: [.sortedKeys, .fragmentsAllowed])
    }

    private func redacted(_ value: Any, _ hasHidden: inout Bool) -> Any {
        switch value {
        case let members as [String: Any]:
            var redacted: [String: Any] = [:]
            for (name, member) in members {
                if hides(parameter: name) {
                    hasHidden = true
                    redacted[name] = Self.mark
                } else {
                    redacted[name] = self.redacted(member, &hasHidden)
                }
            }
            return redacted
        case let elements as [Any]: return elements.map { redacted($0, &hasHidden) }
        default: return value
        }
    }
}

extension UInt8 {
    /// Whether a URL in a sentence ends before it: space, quotation marks and angle brackets.
    fileprivate var endsURL: Bool {
        switch Unicode.Scalar(self) {
        case " ", "\t", "\r", "\n", "'", "\"", "<", ">": true
        default: false
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isLetterOrDigit: Bool {
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber: true
        default: false
        }
    }
}
