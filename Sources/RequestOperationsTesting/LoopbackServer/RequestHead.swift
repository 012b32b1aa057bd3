import RequestOperations

/// The head of an HTTP/1.x request, parsed as strictly as RFC 9112 asks. Text that two parsers could read differently
/// is refused.
struct RequestHead {
    /// How the end of the body is found.
    enum BodyFraming: Equatable {
        case none
        case length(Int)
        case chunked
    }

    let method: String
    let target: String
    let fields: LoopbackServer.Fields
    let framing: BodyFraming
    /// Whether the connection ends after this request, because the client asks for that or speaks HTTP/1.0.
    let endsConnection: Bool

    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        framing != .none && fields.list("Expect", contains: "100-continue")
    }

    /// Parses the lines of a head, without their line ends.
    init(lines: [[UInt8]]) throws(Interruption) {
        let requestLine = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard requestLine.count == 3, requestLine[0].allSatisfy(\.isTokenCharacter), !requestLine[0].isEmpty,
            !requestLine[1].isEmpty, requestLine[1].allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw Interruption.refused(status: 400) }
        method = RequestHead.text(requestLine[0])
        target = RequestHead.text(requestLine[1])

        let version = RequestHead.text(requestLine[2])
        // "HTTP/", a digit, a dot, a digit (RFC 9112, section 2.3).
        let digits = version.utf8.dropFirst(5)
        guard version.hasPrefix("HTTP/"), digits.count == 3, let major = digits.first, let minor = digits.last,
            major.isDigit, minor.isDigit, digits.dropFirst().first == UInt8(ascii: ".")
        else { throw Interruption.refused(status: 400) }
        guard major == UInt8(ascii: "1") else { throw Interruption.refused(status: 505) }

        fields = LoopbackServer.Fields(try lines.dropFirst().map(RequestHead.field))
        if version != "HTTP/1.0", fields.values(of: "Host").count != 1 { throw Interruption.refused(status: 400) }
        framing = try RequestHead.framing(of: fields)
        // An HTTP/1.0 server in between would not know where the body ends (RFC 9112, section 6.1).
        if version == "HTTP/1.0", framing == .chunked { throw Interruption.refused(status: 400) }
        endsConnection = version == "HTTP/1.0" || fields.list("Connection", contains: "close")
    }

    /// Parses one field line. White space before the colon and folded lines are refused.
    static func field(_ line: [UInt8]) throws(Interruption) -> LoopbackServer.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy(\.isTokenCharacter)
        else { throw Interruption.refused(status: 400) }
        let value = line[(colon + 1)...]
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw Interruption.refused(status: 400)
        }
        return LoopbackServer.Field(
            name: text(line[..<colon]), value: String(Substring(text(value)).trimmingSpaces))
    }

    /// The target without scheme and authority.
    static func pathAndQuery(of target: String) -> Substring {
        let separator = "://"
        guard !target.hasPrefix("/"), let colon = target.firstIndex(of: ":"), target[colon...].hasPrefix(separator)
        else { return Substring(target) }
        let authority = target.index(colon, offsetBy: separator.count)
        guard let slash = target[authority...].firstIndex(of: "/") else { return "/" }
        return target[slash...]
    }

    private static func framing(of fields: LoopbackServer.Fields) throws(Interruption) -> BodyFraming {
        let lengths = fields.values(of: "Content-Length")
        let codings = fields.values(of: "Transfer-Encoding")
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw Interruption.refused(status: 400) }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw Interruption.refused(status: 501)
            }
            return .chunked
        }
        guard let length = lengths.first else { return .none }
        guard lengths.allSatisfy({ $0 == length }), !length.isEmpty,
            length.utf8.allSatisfy(\.isDigit), let count = Int(length)
        else { throw Interruption.refused(status: 400) }
        return count == 0 ? .none : .length(count)
    }

    /// The bytes as UTF-8 if they are valid, otherwise as Latin-1, so that no byte is lost.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension UInt8 {
    /// Whether the byte is a decimal digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
