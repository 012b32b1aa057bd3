import Foundation

/// Bodies that the expectations send and receive.
enum Content {
    /// The bytes of `LoopbackServer.Response.large`. The byte at offset *i* is *i* mod 251. So a piece that is lost,
    /// doubled or out of place shows.
    static func pattern(_ count: Int) -> Data {
        var pattern = Data(capacity: count + period.count)
        while pattern.count < count { pattern.append(period) }
        return pattern.prefix(count)
    }

    /// Made only once, since a debug build is slow at each byte.
    private static let period = Data((0..<(251 * 64)).map { UInt8($0 % 251) })

    /// Joins the pieces. (`joined()` goes byte by byte in a debug build.)
    static func joined(_ pieces: [Data]) -> Data {
        pieces.reduce(into: Data()) { $0.append($1) }
    }

    /// The text from which the compressed bodies are made: 16 KiB.
    static let text = Data(String(repeating: "0123456789abcdef", count: 1024).utf8)

    /// `text` in the gzip coding (RFC 1952), by zlib.
    static let gzip = encoded(
        "H4sIAAAAAAACA+3HyQHAEAAAsJWUusZB2X+EbuGV/BKemN5cautjrm+f4O7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u"
            + "7u7X/wOLtB0FAEAAAA==")

    /// `text` in the deflate coding (RFC 1950), by zlib.
    static let deflate = encoded(
        "eNrtx8kBwBAAALCVlLrGQdl/hG7hlfwSnpjeXGrrY65vn+Du7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u7u1/8DTA6J"
            + "AA==")

    /// `text` in the br coding (RFC 7932), by Google's encoder.
    static let brotli = encoded("G/8/+OXBMdRmDT8ejAFUvQEAJBY1j6yevQc=")

    /// `text` in the zstd coding (RFC 8878), by Facebook's encoder.
    static let zstd = encoded("KLUv/QRoxQAAgDAxMjM0NTY3ODlhYmNkZWYBANr/8HMJcx+vFQ==")

    /// 1 MiB of zeroes in 1,051 bytes of the gzip coding, by zlib.
    static let gzipBomb =
        encoded("H4sIAAAAAAACA+3BMQEAAADCoPVPbQhfoA==") + Data(count: 1016) + encoded("PgMc6jinAAAQAA==")

    private static func encoded(_ base64: String) -> Data {
        // The literals above are base64.
        Data(base64Encoded: base64)!
    }
}

extension LoopbackServer.Response {
    /// A response with the lines of a head and a body, exactly as on the wire.
    static func wire(_ lines: String..., body: String = "") -> LoopbackServer.Response {
        .raw(Data((lines.map { $0 + "\r\n" }.joined() + "\r\n" + body).utf8))
    }

    /// 200 with a body in a content coding.
    static func encoded(_ body: Data, _ coding: String) -> LoopbackServer.Response {
        .status(200, fields: ["Content-Type": "text/plain", "Content-Encoding": coding], body: body)
    }

    /// Sends the first bytes of a pattern of `length`. Sends the rest when the gate opens.
    static func pattern(_ first: Int, of length: Int, restAfter gate: LoopbackServer.Gate) -> LoopbackServer.Response {
        let body = Content.pattern(length)
        return LoopbackServer.Response([
            .head(200, ["Content-Length": String(length)]), .bytes(body.prefix(first)), .hold(gate),
            .bytes(body.dropFirst(first)),
        ])
    }
}

extension ResponseHead {
    /// The values of all fields of a name, one by one, in order.
    func values(of name: String) -> [String] {
        fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}
