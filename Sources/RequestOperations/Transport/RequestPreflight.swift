/// The checks that every transport makes before anything is sent.
///
/// A request that fails a check has not reached the network. That holds for every method.
package enum RequestPreflight {
    /// The methods that their definition makes idempotent (RFC 9110, section 9.2.2, and QUERY).
    static let idempotentMethods: Set<String> = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "QUERY"]

    /// Whether the definition of a method makes it idempotent. A request without a method is a GET.
    static func isIdempotent(_ method: String?) -> Bool {
        idempotentMethods.contains((method ?? "GET").uppercased())
    }

    /// Checks the URL, the method and the fields of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - schemes: The schemes that the transport supports, in lower case. A URL with `http` or `https` needs a host.
    /// - Throws: A ``TransferFailure`` of the phase `connect`. Its code is ``RequestError/Code/badURL`` for a missing
    ///   URL or host. It is ``RequestError/Code/unsupportedScheme`` for a scheme that is not in `schemes`. It is
    ///   ``RequestError/Code/invalidField`` for a method or a field name that is no token. The same code stands for a
    ///   field value with a CR, LF or NUL (RFC 9110, sections 5.5 and 5.6.2). Such a request could carry a second
    ///   request inside it. The reason names the field, never its value.
    static func check(_ task: TransportTask, schemes: Set<String>) throws {
        do {
            try check(task.request, schemes: schemes)
        } catch {
            throw TransferFailure(error, phase: .connect)
        }
    }

    /// Whether a text is a token (RFC 9110, section 5.6.2). Methods and field names must be tokens.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(\.isTokenCharacter)
    }

    /// Whether a text can be sent as a field value: it has no CR, LF or NUL (RFC 9110, section 5.5).
    static func isFieldValue(_ text: String) -> Bool {
        !text.utf8.contains(where: \.endsFieldValue)
    }

    /// Refuses a request with a restriction that the transport cannot keep.
    ///
    /// The transport has no cache and does not know the kind of network.
    ///
    /// - Throws: A `RequestError` with the code `unsupported`, for the cache policy `returnCacheDataDontLoad` or for
    ///   `allowsCellularAccess` set to `false`.
    static func checkRestrictions(of request: URLRequest) throws {
        guard request.cachePolicy != .returnCacheDataDontLoad else {
            throw RequestError(
                .unsupported, "the request may be answered from a cache alone, and the transport has no cache")
        }
        guard request.allowsCellularAccess else {
            throw RequestError(
                .unsupported, "the transport cannot tell whether a connection goes over a cellular network")
        }
    }

    private static func check(_ request: URLRequest, schemes: Set<String>) throws {
        guard let url = request.url else { throw RequestError(.badURL, "the request has no URL") }
        guard let scheme = url.scheme else { throw RequestError(.badURL, "the URL is not absolute") }
        // We first look the scheme up as it is written: `lowercased()` makes a new string for each request.
        guard schemes.contains(scheme) || schemes.contains(scheme.lowercased()) else {
            throw RequestError(.unsupportedScheme, "the transport does not support the scheme '\(scheme)'")
        }
        guard url.host?.isEmpty == false || !["http", "https"].contains(scheme.lowercased()) else {
            throw RequestError(.badURL, "the URL has no host")
        }
        try check(method: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] { try check(field: name, value) }
    }

    static func check(method: String) throws {
        guard isToken(method) else { throw RequestError(.invalidField, "the method is not a token") }
    }

    static func check(field name: String, _ value: String) throws {
        guard isToken(name) else { throw RequestError(.invalidField, "a field's name is not a token") }
        guard isFieldValue(value) else {
            throw RequestError(.invalidField, "the value of '\(name)' has a CR, LF or NUL")
        }
    }
}

extension URLRequest {
    /// The fields to send: the fields of the request, and the field that its cache policy stands for.
    ///
    /// For `reloadIgnoringLocalAndRemoteCacheData` that is `Cache-Control: no-cache` (RFC 9111, section 5.2.1.4). It is
    /// not added if the request has a `Cache-Control` field.
    var fieldsToSend: [String: String] {
        var fields = allHTTPHeaderFields ?? [:]
        guard cachePolicy == .reloadIgnoringLocalAndRemoteCacheData else { return fields }
        if value(forHTTPHeaderField: "Cache-Control") == nil { fields["Cache-Control"] = "no-cache" }
        return fields
    }
}

extension UInt8 {
    /// Whether a token may contain this byte (`tchar`, RFC 9110, section 5.6.2).
    package var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    fileprivate var endsFieldValue: Bool { self == 0x0D || self == 0x0A || self == 0x00 }
}
