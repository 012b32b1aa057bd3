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

extension ResponseHead: CustomStringConvertible, CustomReflectable {
    /// The status and the number of fields, without any value.
    public var description: String { "\(status) (\(fields.count) fields)" }

    /// No children, so that `dump` shows no field.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
