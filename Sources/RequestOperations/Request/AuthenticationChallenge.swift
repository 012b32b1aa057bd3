/// What a server asks for with status 401: one challenge of a `WWW-Authenticate` field (RFC 9110, section 11.6.1).
public struct AuthenticationChallenge: Sendable, Hashable {
    /// The scheme in lower case, such as `basic`, `bearer` or `digest`.
    public let scheme: String

    /// The parameters, by their names in lower case. If a name occurs several times, the first one counts.
    public let parameters: [String: String]

    /// The URL that the server refused, without user, password, query and fragment.
    public internal(set) var url: URL?

    /// The credential that the server has just refused. `nil` for its first challenge.
    public internal(set) var refused: ServerCredential?

    /// The protection space within the server (RFC 9110, section 11.5). `nil` if the challenge names none.
    package var realm: String? { parameters["realm"] }

    init(scheme: String, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.parameters = parameters
    }

    /// Reads all challenges of a response, in their order. What cannot be read is left out.
    static func list(in head: ResponseHead) -> [AuthenticationChallenge] {
        head.fields.filter { $0.name.lowercased() == "www-authenticate" }.flatMap { list(in: $0.value) }
    }

    /// Reads the challenges of a field.
    ///
    /// A comma separates challenges, and parameters of one challenge as well. A name with a value is a parameter of the
    /// challenge before it. Any other name begins a challenge. A challenge that cannot be read is left out.
    static func list(in field: String) -> [AuthenticationChallenge] {
        var challenges: [AuthenticationChallenge] = []
        // The challenge that is being read; `nil` if it cannot be read.
        var current: AuthenticationChallenge?
        var rest = Substring(field).unicodeScalars
        while true {
            rest = rest.drop { $0.isSpaceOrTab || $0 == "," }
            guard !rest.isEmpty else { return challenges + [current].compactMap(\.self) }
            let word = rest.takeToken()
            let afterWord = rest
            rest = rest.drop { $0.isSpaceOrTab }
            if word.isEmpty {
                current = nil
                _ = rest.takeListElement()
            } else if rest.first == "=" {
                rest.removeFirst()
                let value = rest.takeParameterValue()
                if value == nil { _ = rest.takeListElement() }
                current = value.flatMap { current?.adding(word, $0) }
            } else {
                if let current { challenges.append(current) }
                current = AuthenticationChallenge(scheme: word.lowercased())
                // A challenge may have one value without a name, as `Negotiate` has. We know no such scheme.
                if afterWord.first?.isSpaceOrTab == true { rest.skipToken68() }
            }
        }
    }

    private func adding(_ name: String, _ value: String) -> AuthenticationChallenge {
        AuthenticationChallenge(
            scheme: scheme, parameters: parameters.merging([name.lowercased(): value]) { first, _ in first })
    }
}

extension AuthenticationChallenge: CustomStringConvertible {
    /// The scheme and the realm.
    public var description: String { realm.map { "\(scheme) for \($0)" } ?? scheme }
}

extension Substring.UnicodeScalarView {
    fileprivate mutating func takeToken() -> String {
        let token = prefix { $0.isTokenScalar }
        self = self[token.endIndex...]
        return String(Substring(token))
    }

    /// Takes the value of a parameter: a token or a quoted string. `nil` if it is neither. As for curl, an open string ends with
    /// the field.
    fileprivate mutating func takeParameterValue() -> String? {
        self = drop { $0.isSpaceOrTab }
        if first == "\"" {
            let open = String(Substring(dropFirst()))
            return takeQuotedString() ?? open
        }
        let token = takeToken()
        return token.isEmpty ? nil : token
    }

    /// Skips a `token68` (RFC 9110, section 11.2), unless the text is a parameter.
    fileprivate mutating func skipToken68() {
        var after = drop {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789-._~+/".unicodeScalars.contains($0))
        }
        after = after.drop { $0 == "=" }
        let end = after.drop { $0.isSpaceOrTab }
        if end.isEmpty || end.first == "," { self = end }
    }
}

extension Unicode.Scalar {
    fileprivate var isSpaceOrTab: Bool { self == " " || self == "\t" }
}
