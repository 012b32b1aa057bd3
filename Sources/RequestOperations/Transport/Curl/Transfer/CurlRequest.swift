#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// A request that has been checked and split into what libcurl needs. (It is a class, since copying all of it takes
    /// longer than making an object.)
    final class CurlRequest: Sendable {
        let url: URL
        let text: String
        let isSecure: Bool
        /// Whether the host is a name, not an address.
        let hasName: Bool
        let method: String
        let fields: Fields
        /// Whether the request sends the cookies of the transport, and the cookies of its response are kept.
        let handlesCookies: Bool

        /// In bytes. libcurl sends no head of more than 1 MiB, including what it adds. It would report a lack of
        /// memory.
        static let largestHead = 900_000

        /// Whether the method is safe (RFC 9110, section 9.2.1; QUERY), so that the request may be sent twice without
        /// asking.
        var isSafe: Bool {
            switch method {
            case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
            default: false
            }
        }

        /// - Throws: A `RequestError` with one of the codes `badURL`, `unsupportedScheme`, `invalidField`,
        ///   `unsupported`.
        init(_ request: URLRequest) throws {
            guard var url = request.url else { throw RequestError(.badURL, "there is no URL") }
            var text = url.absoluteString
            guard text.utf8.count <= Self.largestHead else { throw RequestError(.badURL, "the URL is too long") }
            var parts = try Self.inspect(text, of: url)
            if parts.isEscaped {
                url = try Self.withPlainHost(url)
                text = url.absoluteString
                parts = try Self.inspect(text, of: url)
            }
            self.url = url
            self.text = text
            (isSecure, hasName) = (parts.isSecure, parts.hasName)
            method = request.httpMethod ?? "GET"
            try RequestPreflight.check(method: method)
            guard method != "CONNECT" else { throw RequestError(.unsupported, "CONNECT is no request for a resource") }
            try RequestPreflight.checkRestrictions(of: request)
            handlesCookies = request.httpShouldHandleCookies
            fields = try Fields(request.fieldsToSend)
            let size = fields.lines.reduce(0) { $0 + $1.utf8.count + 2 }
            guard text.utf8.count + size <= Self.largestHead else {
                if size > text.utf8.count { throw RequestError(.invalidField, "the fields are too large") }
                throw RequestError(.badURL, "the URL is too long")
            }
        }

        /// The fields of a request.
        struct Fields: Sendable {
            /// The fields as lines for libcurl.
            private(set) var lines: [String] = []
            /// Whether the library asks for compressed bodies and decodes them. It does so for requests without an
            /// `Accept-Encoding` of their own.
            private(set) var decodesBody = true
            private(set) var hasContentType = false
            private(set) var hasExpectation = false
            private(set) var hasHost = false
            private(set) var hasUserAgent = false
            /// Whether the connection has to end with the request: `Connection` has the option `close` (RFC 9112,
            /// section 9.6).
            private(set) var endsConnection = false

            init(_ fields: [String: String]) throws {
                var isRange = false
                for (name, value) in fields {
                    try RequestPreflight.check(field: name, value)
                    switch name.utf8.count {
                    case 14 where name.utf8.isSameFieldName(as: "content-length".utf8),
                        17 where name.utf8.isSameFieldName(as: "transfer-encoding".utf8):
                        // The body that is really sent decides. Two fields that disagree about the body's end allow an
                        // attack.
                        continue
                    case 15 where name.utf8.isSameFieldName(as: "accept-encoding".utf8):
                        decodesBody = false
                    case 10 where name.utf8.isSameFieldName(as: "user-agent".utf8):
                        hasUserAgent = true
                    case 10 where name.utf8.isSameFieldName(as: "connection".utf8):
                        if Self.listsClose(value) { endsConnection = true }
                    case 12 where name.utf8.isSameFieldName(as: "content-type".utf8):
                        hasContentType = true
                    case 4 where name.utf8.isSameFieldName(as: "host".utf8):
                        hasHost = true
                    case 6 where name.utf8.isSameFieldName(as: "expect".utf8):
                        hasExpectation = true
                    case 5 where name.utf8.isSameFieldName(as: "range".utf8):
                        isRange = true
                    default:
                        break
                    }
                    // A line without a value after the colon would remove the field.
                    lines.append(value.utf8.allSatisfy(\.isSpaceOrTab) ? "\(name);" : "\(name): \(value)")
                }
                if isRange, decodesBody {
                    // A part of a compressed body cannot be decompressed.
                    decodesBody = false
                    lines.append("Accept-Encoding: identity")
                }
            }

            /// Whether a list of connection options has `close`, in any case (RFC 9110, section 7.6.1).
            private static func listsClose(_ value: String) -> Bool {
                value.split(separator: ",").contains { option in
                    option.trimmingCharacters(in: .whitespaces).lowercased() == "close"
                }
            }
        }

        /// The value of the line if it is a `Cookie` field.
        static func cookies(in line: String) -> String? {
            guard line.utf8.count > 7, line.utf8.prefix(7).isSameFieldName(as: "cookie:".utf8) else { return nil }
            return line.dropFirst(7).trimmingCharacters(in: .whitespaces)
        }

        /// The URL with the host that libcurl asks, so that pins and cookies are for that one. libcurl decodes a host and
        /// then reads it as an internationalized name.
        ///
        /// - Throws: `badURL` if the decoded text is not a host, or has escapes again.
        private static func withPlainHost(_ url: URL) throws -> URL {
            var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
            let host = parts?.encodedHost ?? ""
            // This is how a URL has the zone of an address (RFC 6874).
            if host.hasPrefix("["), host.range(of: "%25") != nil, host.split(separator: "%").count == 2 { return url }
            let delimiters = CharacterSet(charactersIn: ":/?#[]@\\%").union(.whitespacesAndNewlines).union(
                .controlCharacters)
            guard let decoded = host.removingPercentEncoding, decoded.rangeOfCharacter(from: delimiters) == nil,
                let asked = URL(string: "http://\(decoded)/"),
                let plain = URLComponents(url: asked, resolvingAgainstBaseURL: true)?.encodedHost, !plain.contains("%")
            else { throw RequestError(.badURL, "the host of the URL has escapes that no host can have") }
            parts?.encodedHost = plain
            guard let url = parts?.url else { throw RequestError(.badURL, "the URL has no host") }
            return url
        }

        /// Checks scheme and host in the text of the URL, without parsing the URL a second time.
        private static func inspect(
            _ text: String, of url: URL
        ) throws -> (isSecure: Bool, hasName: Bool, isEscaped: Bool) {
            var text = text
            return try text.withUTF8 { bytes in
                let isSecure: Bool
                let authority: Slice<UnsafeBufferPointer<UInt8>>
                if bytes.begins(with: "http://") {
                    isSecure = false
                    authority = bytes[7...].prefix { !$0.endsAuthority }
                } else if bytes.begins(with: "https://") {
                    isSecure = true
                    authority = bytes[8...].prefix { !$0.endsAuthority }
                } else {
                    throw schemeError(url)
                }
                let userInfoEnd = authority.lastIndex(of: UInt8(ascii: "@"))
                let hostAndPort = authority[(userInfoEnd.map { $0 + 1 } ?? authority.startIndex)...]
                guard let first = hostAndPort.first, first != UInt8(ascii: ":") else {
                    throw RequestError(.badURL, "the URL has no host")
                }
                let isAddress = first == UInt8(ascii: "[") || hostAndPort.allSatisfy(\.isInIPv4Address)
                // Before version 8.3, libcurl loses the zone of an address, which is written with a percent sign.
                return (isSecure, !isAddress, hostAndPort.contains(UInt8(ascii: "%")))
            }
        }

        private static func schemeError(_ url: URL) -> RequestError {
            guard let scheme = url.scheme?.lowercased() else { return RequestError(.badURL, "the URL is not absolute") }
            guard scheme != "http", scheme != "https" else { return RequestError(.badURL, "the URL has no host") }
            return RequestError(.unsupportedScheme, "the transport does not support the scheme '\(scheme)'")
        }
    }

    extension UInt8 {
        fileprivate var isInIPv4Address: Bool {
            (0x30...0x39).contains(self) || self == UInt8(ascii: ".") || self == UInt8(ascii: ":")
        }

        /// Whether this ends the authority of a URL (RFC 3986, section 3.2).
        fileprivate var endsAuthority: Bool {
            self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
        }
    }
#endif
