/// What is left out when a request is shown to people: in `curlCommand` and in descriptions.
///
/// A hidden value is replaced by `redacted`, so you can see that there was a value. Names are compared without regard
/// to case and to marks such as `-` and `_`: `accessToken` and `access_token` are the same.
public struct Redaction: Sendable {
    /// The names of header fields whose values are hidden.
    public var fields: Set<String> {
        didSet { fieldKeys = Set(fields.map(Self.key)) }
    }

    /// The names of parameters whose values are hidden, in queries, fragments, forms and JSON members.
    public var parameters: Set<String> {
        didSet { parameterKeys = Set(parameters.map(Self.key)) }
    }

    /// Words, or sequences of words, that hide a value. They hide every field and parameter whose name contains them.
    ///
    /// For example, `password` hides `newPassword` and `password_confirmation`, and `private key` hides
    /// `ssh_private_key`. A word of five or more letters also counts at the end of another word, as in `userpassword`.
    public var words: Set<String> {
        didSet { wordKeys = Set(words.map(Self.key)) }
    }

    private var fieldKeys: Set<String>
    private var parameterKeys: Set<String>
    private var wordKeys: Set<String>

    /// Makes a redaction of only the given names. Users and passwords in URLs are always hidden.
    public init(fields: Set<String> = [], parameters: Set<String> = [], words: Set<String> = []) {
        self.fields = fields
        self.parameters = parameters
        self.words = words
        fieldKeys = Set(fields.map(Self.key))
        parameterKeys = Set(parameters.map(Self.key))
        wordKeys = Set(words.map(Self.key))
    }

    /// Hides the fields and parameters that commonly hold credentials.
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

    /// The text that replaces a hidden value.
    package static let mark = "redacted"

    /// Whether the value of a field is hidden. Redirects to another origin drop such a field, and the offline queue does not
    /// store it.
    package func hides(field name: String) -> Bool {
        fieldKeys.contains(Self.key(name)) || hidesWord(of: name)
    }

    /// The value of a field, or the word that replaces it if the field is hidden.
    package func value(_ value: String, ofField name: String) -> String {
        hides(field: name) ? Self.mark : value
    }

    func hides(parameter name: String) -> Bool {
        // Each part of a nested name counts, as in `user[password]`.
        name.unicodeScalars.split { ".[]".unicodeScalars.contains($0) }
            .contains { parameterKeys.contains(Self.key(String($0))) } || hidesWord(of: name)
    }

    /// Whether a word or a sequence of words in a name is one of the hidden ones.
    private func hidesWord(of name: String) -> Bool {
        guard !wordKeys.isEmpty else { return false }
        let words = name.words(joinedBy: "_").unicodeScalars
            .split { !$0.isLetterOrDigit }.map { String($0) }
        for first in words.indices {
            var run = ""
            for word in words[first...].prefix(Self.longestRun) {
                run += word
                if wordKeys.contains(run) { return true }
            }
            // A name without separators may end with a hidden word. The word counts if it is long enough not to match
            // by accident.
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

    /// The scheme, host, port and path of a URL, which is all that a description shows.
    ///
    /// A query or a fragment can be a credential as a whole, under any name, as in a signed URL. A URL with a scheme
    /// but no authority, such as `data:`, shows only its scheme.
    static func location(of url: URL?) -> String {
        guard let url else { return "no URL" }
        return URLReference(url.absoluteString).location(withUserAs: "")
    }

    /// The method of a request and the ``location(of:)`` of its URL.
    package static func line(of request: URLRequest) -> String {
        "\(request.httpMethod ?? "GET") \(location(of: request.url))"
    }

    /// A library's message, without users, passwords, queries and fragments. It may quote a URL or a proxy.
    static func message(_ message: String) -> String {
        // Most messages have neither a user nor a URL.
        guard message.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "/") }) else {
            return message
        }
        // Two steps are needed. A proxy that cannot be parsed is quoted whole, as the user wrote it.
        return shorteningURLs(in: hidingUsers(inQuotesOf: message))
    }

    /// A message in which no text between apostrophes contains an `@`.
    private static func hidingUsers(inQuotesOf message: String) -> String {
        var parts = message.utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        var place = 1
        // Text after the last apostrophe is not quoted.
        while place < parts.count - 1 {
            let isHidden = parts[place].utf8.contains(UInt8(ascii: "@"))
            if isHidden { parts[place] = mark }
            // The apostrophe that ends a hidden text does not begin another text.
            place += isHidden ? 2 : 1
        }
        return parts.joined(separator: "'")
    }

    /// A message in which each URL is replaced by its ``location(of:)``.
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

    /// A word whose URL, if it ends with one, is replaced by its location.
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

    /// A URL as text, without what is left out. A URL with a scheme but no authority shows only its scheme.
    ///
    /// A fragment may hold the answer of an authorization server (RFC 6749, section 4.2.2). It is a form, like a query.
    package func text(of url: URL) -> String {
        let reference = URLReference(url.absoluteString)
        var location = reference.location(withUserAs: Self.mark + "@")
        guard !reference.isOpaque else { return location }
        if let query = reference.query { location += "?" + form(query) }
        if let fragment = reference.fragment { location += "#" + form(fragment) }
        return location
    }

    /// A form without what is left out. It is split between bytes, because a sign plus a combining mark is a different
    /// `Character`.
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

    /// The JSON of a body without what is left out. `nil` if the body is not JSON. If nothing is left out, it is
    /// unchanged.
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
    /// Whether a URL in a sentence ends before this byte: at space, a quotation mark or an angle bracket.
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

/// An error of this package whose description has no secrets.
protocol LoggableError: Error, CustomStringConvertible {}

extension Error {
    /// The error as one line for a log. Errors of this package show their description. Other errors show their type,
    /// and their number if they have one. The text of a foreign error may quote a URL, a field or a body, as that of a
    /// `URLError` does.
    package var redacted: String {
        switch self {
        case let error as any LoggableError: error.description
        case let error as DecodingError: "DecodingError, \(error.phrase)"
        case is CancellationError: "cancelled"
        case let error as any CustomNSError: "\(type(of: self)) \(error.errorCode)"
        default: "\(type(of: self))"
        }
    }
}

extension String {
    /// The words of a name such as `userID`, in lower case, with a separator between them.
    func words(joinedBy separator: String) -> String {
        let characters = Array(self)
        var words = ""
        for (index, character) in characters.enumerated() {
            if character.isUppercase, Self.beginsWord(at: index, in: characters) { words += separator }
            words += character.lowercased()
        }
        return words
    }

    private static func beginsWord(at index: Int, in characters: [Character]) -> Bool {
        guard index > 0 else { return false }
        let previous = characters[index - 1]
        guard previous.isUppercase else { return previous.isLetter || previous.isNumber }
        guard index + 1 < characters.count, characters[index + 1].isLowercase else { return false }
        let isPlural =
            characters[index + 1] == "s" && (index + 2 == characters.count || !characters[index + 2].isLowercase)
        return !isPlural
    }
}
