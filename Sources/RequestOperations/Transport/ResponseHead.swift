/// The head of a response: status, fields, URL and protocol version.
///
/// It is cheap to make and to copy. Field names and values stay in the bytes that arrived until you ask for them. Only
/// ``httpURLResponse`` makes an `HTTPURLResponse`. On Linux that object and its dictionary cost as much as a whole
/// small transfer.
public struct ResponseHead: Sendable {
    /// Whether the request had the method HEAD. Such responses have no content (RFC 9110, section 9.3.2). The operation
    /// sets this before it validates.
    var answersHEAD = false

    /// Whether the server refused an expectation that the transport had added itself (status 417).
    var refusesAddedExpectation = false

    /// The status code (RFC 9110, section 15). It is 0 if the response is not HTTP, for example for a `data:` URL.
    public let status: Int

    /// The URL that this head came from. After redirects it is the last URL.
    public let url: URL

    /// The HTTP version of the response; `nil` if the transport does not know it.
    public let version: HTTPVersion?

    private let content: Fields

    private enum Fields: Sendable {
        case list([(name: String, value: String)])
        case block(HeaderBlock)
        case response(HTTPURLResponse)
    }

    /// Makes a head from its parts, for a transport of your own or a test.
    ///
    /// - Parameters:
    ///   - status: The status code. 0 means that the response is not HTTP.
    ///   - url: The URL that the response came from.
    ///   - fields: The fields in the order in which they arrived. Empty by default.
    ///   - version: The protocol version. `nil`, the default, means unknown.
    public init(
        status: Int, url: URL, fields: [(name: String, value: String)] = [], version: HTTPVersion? = nil
    ) {
        (self.status, self.url, self.version, content) = (status, url, version, .list(fields))
    }

    /// Makes a head over the bytes of a header block. They are parsed when a field is asked for.
    package init(status: Int, url: URL, block: HeaderBlock, version: HTTPVersion?) {
        (self.status, self.url, self.version, content) = (status, url, version, .block(block))
    }

    /// Makes a head over a Foundation response. The fields stay there until they are asked for.
    package init(_ response: HTTPURLResponse) {
        // Only a response that was made without a URL has none. Foundation makes no such response.
        url = response.url ?? URL(fileURLWithPath: "/")
        (status, version, content) = (response.statusCode, nil, .response(response))
    }

    /// Whether this is the head of an HTTP response.
    public var isHTTP: Bool { status != 0 }

    /// All fields in the order in which they arrived. A name that arrived several times is listed several times.
    ///
    /// The fields are parsed again at each call. Bytes that are not UTF-8 are read as ISO 8859-1 (RFC 9110, section
    /// 5.5).
    public var fields: [(name: String, value: String)] {
        switch content {
        case .list(let fields): fields
        case .block(let block): block.fields
        case .response(let response): response.fieldList
        }
    }

    /// The value of a field, or `nil` if it is absent.
    ///
    /// Case does not count in names. The values of several fields of that name are joined by `", "` (RFC 9110, section
    /// 5.3).
    ///
    /// - Parameter name: The name, such as `"Content-Type"`.
    public func field(_ name: String) -> String? {
        switch content {
        case .list(let fields):
            let found = fields.lazy.filter { $0.name.utf8.isSameFieldName(as: name.utf8) }.map(\.value)
            return found.isEmpty ? nil : found.joined(separator: ", ")
        case .block(let block):
            return block.value(of: name)
        case .response(let response):
            return response.joinedValue(of: name)
        }
    }

    /// The same head as Foundation's type, or `nil` if the response is not HTTP.
    ///
    /// It is made at each call. The values of several fields of one name are joined by `", "`, under the first
    /// spelling.
    public var httpURLResponse: HTTPURLResponse? {
        guard isHTTP else { return nil }
        if case .response(let response) = content { return response }
        var dictionary: [String: String] = [:]
        var spellings: [String: String] = [:]
        for (name, value) in fields {
            // Foundation on Linux finds only one spelling of a name.
            let spelling = spellings[name.lowercased(), default: name]
            spellings[name.lowercased()] = spelling
            dictionary[spelling] = dictionary[spelling].map { "\($0), \(value)" } ?? value
        }
        return HTTPURLResponse(
            url: url, statusCode: status, httpVersion: version?.description, headerFields: dictionary)
    }
}

extension HTTPURLResponse {
    /// The value of a field.
    ///
    /// Foundation on Linux joins several fields of one name. It does not if the name begins with `X-` and has several
    /// spellings.
    fileprivate func joinedValue(of name: String) -> String? {
        guard name.first == "X" || name.first == "x" else { return value(forHTTPHeaderField: name) }
        let values = fieldList.lazy.filter { $0.name.utf8.isSameFieldName(as: name.utf8) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The fields, sorted by name. Foundation keeps them in a dictionary and loses the order of arrival.
    fileprivate var fieldList: [(name: String, value: String)] {
        allHeaderFields
            .compactMap { name, value in (name as? String).map { (name: $0, value: String(describing: value)) } }
            .sorted { $0.name < $1.name }
    }
}

extension ResponseHead: CustomStringConvertible, OpaqueReflectable {
    /// The status and the number of fields, without any value.
    public var description: String { "\(status) (\(fields.count) fields)" }
}

/// A version of HTTP.
public struct HTTPVersion: Hashable, Sendable, CustomStringConvertible {
    /// The digit before the point.
    public let major: Int
    /// The digit after the point.
    public let minor: Int

    /// Makes a version. HTTP/1.1 has a major of 1 and a minor of 1.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// HTTP/1.0.
    public static let http1_0 = HTTPVersion(major: 1, minor: 0)
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// HTTP/1.1 (RFC 9112).
    public static let http1_1 = HTTPVersion(major: 1, minor: 1)
    /// HTTP/2 (RFC 9113).
    public static let http2 = HTTPVersion(major: 2, minor: 0)
    /// HTTP/3 (RFC 9114).
    public static let http3 = HTTPVersion(major: 3, minor: 0)

    /// The name of the version, such as `HTTP/1.1` or `HTTP/2`.
    public var description: String { major >= 2 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
}

/// The field lines of one response, kept as the bytes that arrived and parsed when asked.
///
/// Lines end with CRLF or LF. A line that begins with a space or a tab continues the one before it (obsolete folding,
/// RFC 9112, section 5.2). A line without a name and a colon is skipped, with its continuations. A CR or NUL within a
/// line becomes a space (RFC 9110, section 5.5).
package struct HeaderBlock: Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        forEachField { name, value in
            fields.append((text(name), text(value)))
        } continuation: { value in
            append(value, to: &fields[fields.count - 1].value)
        }
        return fields
    }

    /// The values of all fields of a name, joined by `", "`. It makes no string of any other field.
    package func value(of name: String) -> String? {
        var values: [String] = []
        var isMatch = false
        forEachField { candidate, value in
            isMatch = candidate.isSameFieldName(as: name.utf8)
            if isMatch { values.append(text(value)) }
        } continuation: { value in
            if isMatch { append(value, to: &values[values.count - 1]) }
        }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Goes through the fields in order. The continuations of a field follow it. Names and values have no blanks around
    /// them.
    private func forEachField(
        _ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void,
        continuation: (_ value: ArraySlice<UInt8>) -> Void
    ) {
        var isInField = false
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: .lineFeed) ?? bytes.endIndex
            let line = bytes[start..<end]
            start = end + 1
            guard let first = line.first, !line.allSatisfy(\.isCarriageReturn) else { continue }
            if first.isSpaceOrTab {
                if isInField { continuation(trimmed(line)) }
                continue
            }
            let colon = line.firstIndex(of: .colon) ?? line.startIndex
            let name = trimmed(line[..<colon])
            isInField = !name.isEmpty
            if isInField { body(name, trimmed(line[(colon + 1)...])) }
        }
    }

    private func append(_ continuation: ArraySlice<UInt8>, to value: inout String) {
        guard !continuation.isEmpty else { return }
        value += (value.isEmpty ? "" : " ") + text(continuation)
    }

    private func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = slice
        while let first = slice.first, first.isBlank { slice.removeFirst() }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }

    private func text(_ slice: ArraySlice<UInt8>) -> String {
        guard slice.contains(where: { $0 >= 0x80 || $0.isForbidden }) else {
            return String(decoding: slice, as: UTF8.self)
        }
        let bytes = slice.map { $0.isForbidden ? .space : $0 }
        return String(bytes: bytes, encoding: .utf8)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let colon = UInt8(ascii: ":")
    fileprivate static let lineFeed = UInt8(ascii: "\n")

    fileprivate var isCarriageReturn: Bool { self == UInt8(ascii: "\r") }

    /// A byte that no field may contain. It is read as a space.
    fileprivate var isForbidden: Bool { isCarriageReturn || self == 0 }

    fileprivate var isBlank: Bool { isSpaceOrTab || isForbidden }

    var isSpaceOrTab: Bool { self == 0x20 || self == 0x09 }
}

extension Sequence<UInt8> {
    /// Whether these bytes and `other` are the same field name. Case does not count (RFC 9110, section 5.1).
    func isSameFieldName(as other: some Sequence<UInt8>) -> Bool {
        elementsEqual(other) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension RandomAccessCollection<UInt8> where Index == Int {
    /// Whether the bytes begin with a text in lower case. Case does not count.
    func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        return (0..<text.utf8CodeUnitCount).allSatisfy { self[startIndex + $0].asciiLowercased == text.utf8Start[$0] }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension URLRequest {
    /// Sets a field and removes any other field of the same name.
    ///
    /// On Linux, Foundation's own `setValue(_:forHTTPHeaderField:)` does nothing if the value has a line break. The
    /// request would then go out without the field. With this function the check before sending refuses the request.
    /// Foundation's function also takes five times as long.
    mutating func setField(_ name: String, to value: String) {
        var fields = allHTTPHeaderFields ?? [:]
        for other in fields.keys where other.utf8.isSameFieldName(as: name.utf8) { fields[other] = nil }
        fields[name] = value
        allHTTPHeaderFields = fields
    }
}
