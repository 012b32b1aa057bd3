import Foundation
import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// A parser of text or bytes that come from somebody else.
struct FuzzedParser: Sendable, CustomTestStringConvertible {
    let name: String
    let seeds: [[UInt8]]
    /// Parses an input. What the parser throws is an answer like any other.
    let parse: @Sendable ([UInt8]) throws -> Void

    var testDescription: String { name }

    init(_ name: String, _ seeds: [String], bytes parse: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.init(name, bytes: seeds.map { Array($0.utf8) }, parse)
    }

    init(_ name: String, bytes seeds: [[UInt8]], _ parse: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.seeds = seeds
        self.parse = parse
    }

    init(_ name: String, _ seeds: [String], _ parse: @escaping @Sendable (String) throws -> Void) {
        self.init(name, seeds, bytes: { try parse(String(decoding: $0, as: UTF8.self)) })
    }
}

extension FuzzedParser {
    private static let url = URL(string: "https://a.example/b/c?d=e")!
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private static func head(_ name: String, _ value: String) -> ResponseHead {
        ResponseHead(status: 200, url: url, fields: [(name: name, value: value)], version: .http1_1)
    }

    /// A multipart body of one part with this name of a field and of a file. It has six ends of lines.
    private static func multipart(_ name: String) throws -> Data {
        var form = MultipartFormData(boundary: "boundary")
        form.append(Data("content".utf8), name: name, fileName: name)
        return try form.dataInMemory() ?? Data()
    }

    static let all: [FuzzedParser] = fields + documents

    private static let fields: [FuzzedParser] = [
        FuzzedParser(
            "header block", ["HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n e\r\n\r\n", "A: b\r\nA: c\r\n\r\n"],
            bytes: { input in
                let head = ResponseHead(status: 200, url: url, block: HeaderBlock(input), version: .http1_1)
                _ = (head.fields, head.field("A"), head.field("set-cookie"))
            }),
        FuzzedParser("Retry-After", ["120", "Fri, 31 Dec 1999 23:59:59 GMT", "Friday, 31-Dec-99 23:59:59 GMT"]) {
            _ = RetryAfter.delay($0, now: date)
        },
        FuzzedParser(
            "media type", [#"text/html; charset="utf-8"; a=b"#, "application/json;charset=latin1, text/plain"]
        ) {
            _ = (MediaType.ofField($0), MediaType.mentionsCharset(in: $0))
            _ = Charset(name: $0)?.text(of: Data($0.utf8))
        },
        FuzzedParser(
            "Content-Disposition",
            [#"attachment; filename="a.tar.gz"; filename*=UTF-8''%e2%82%ac%20rates"#, "inline; filename=../../x"]
        ) {
            let name = SafeFileName(of: head("Content-Disposition", $0)).variant(1)
            precondition(!name.isEmpty && !name.hasPrefix(".") && !name.unicodeScalars.contains("/"))
        },
        FuzzedParser("Link", [#"</x?page=2>; rel="next prev"; title*=UTF-8'de'%41, <y>; rel=last"#]) {
            var parser = LinkParser($0, base: url)
            _ = parser.links()
        },
        FuzzedParser("digest field", ["sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:, sha-512=:AA==:;a=1"]) {
            _ = FileDigest.strongest(inField: $0)
        },
        FuzzedParser("Content-Range", ["bytes 0-99/100", "bytes 5-9/*", "bytes */100"]) { _ = ContentRange($0) },
        FuzzedParser("challenge", [#"Basic realm="a", Digest nonce="n", qop="auth", Negotiate YII=="#]) { text in
            for challenge in AuthenticationChallenge.list(in: text) {
                _ = DigestAuthorization(challenge)?.field(
                    user: "u", password: "p", method: "GET", target: "/", count: 1, clientNonce: "c")
            }
        },
        FuzzedParser("location", ["../x?y#z", "//b.example:80/", "http://u:p@[::1]:8080/%41?q", "mailto:a@b"]) { text in
            _ = URL(location: text, relativeTo: url)
            _ = Redaction.message(text)
            _ = URLReference(text).location(withUserAs: "")
        },
        FuzzedParser("URI template", ["/users/{id}{?a,b*,c:3}{#frag}", "{+path}{/x*}{;y}"]) { text in
            _ = try URITemplate(text)
        },
    ]

    private static let documents: [FuzzedParser] = [
        FuzzedParser(
            "problem details",
            [#"{"type":"a","title":"b","status":404,"detail":"c","instance":"d","x":[1,{"y":null}]}"#],
            bytes: { _ = try JSONDecoder().decode(ProblemDetails.self, from: Data($0)) }),
        FuzzedParser("form", ["a=1&b[c]=2&b[d][]=3&e.f=4&%5B=%5D", "user[name]=x&user[tags][]=1&user[tags][]=2"]) {
            text in
            _ = try URLEncodedFormDecoder().decode([String: [String: [String]]].self, from: text)
        },
        FuzzedParser("multipart names", ["avatar.png", "a\"; filename=\"b", "a\r\nContent-Type: text/html\r\n\r\n"]) {
            let body = try multipart($0)
            precondition(body.count { $0 == UInt8(ascii: "\r") } == 6)
        },
        FuzzedParser(
            "XML", [#"<?xml version="1.0" encoding="utf-8"?><!DOCTYPE a><a b="c">d<e/><![CDATA[f]]>&amp;</a>"#],
            bytes: { input in
                _ = try XMLTree(parsing: Data(input))
            }),
        FuzzedParser(
            "server-sent events", ["id: 1\nevent: a\ndata: b\ndata: c\nretry: 10\n\n: x\r\ndata\r\r"],
            bytes: { input in
                var parser = ServerSentEventParser(lastEventID: "", maximumSize: 1024)
                let middle = input.count / 2
                _ = parser.parse(Data(input[..<middle]))
                _ = parser.parse(Data(input[middle...]))
            }),
        FuzzedParser(
            "lines", ["a\nb\r\nc\rd"],
            bytes: { input in
                var parser = LineParser(.all, maximumLength: 64)
                parser.append(Data(input))
                while try parser.next() != nil {}
                _ = try parser.finish()
            }),
        FuzzedParser(
            // The least of a certificate: five elements, the key, an algorithm, a signature.
            "certificate", ["0\u{15}0\u{F}\u{2}\u{1}\u{1}0\00\00\00\00\u{2}\u{5}\00\0\u{3}\0"],
            bytes: { _ = PinCheck.Certificate(der: Data($0)) }),
        FuzzedParser(
            "tus side file", [#"{"server":"a","source":{"data":{"digest":"AA=="}},"location":{"url":"https://a/b"}}"#],
            bytes: { _ = try JSONDecoder().decode(TusRecord.self, from: Data($0)) }),
    ]
}

#if os(Linux)
    extension FuzzedParser {
        /// The kernel's files about addresses and routes.
        static let route = FuzzedParser(
            "network table",
            [
                "eth0\t00000000\t0200C90A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n",
                "0 00 0 00 0 00000400 00000001 00000000 00000003 eth0\n", "fd01 04 40 00 80 eth0\n",
            ]
        ) { content in
            var table = LinkTable()
            table.addRoutes(ipv4: content)
            table.addRoutes(ipv6: content)
            table.addAddresses(ipv6: content)
        }

        /// The lines of a head, as libcurl gives them.
        static let head = FuzzedParser(
            "head",
            [
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Encoding: gzip\r\n\r\n",
                "HTTP/1.1 103 Early\r\n\r\nHTTP/2 204\r\nTransfer-Encoding: chunked, gzip\r\n b\r\n\r\nTrailer: x\r\n",
            ],
            bytes: { input in
                var reader = HeadReader()
                for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                    // libcurl gives no line that is empty.
                    guard case .more = (line + [UInt8(ascii: "\n")]).withUnsafeBytes({ reader.add($0) }) else { break }
                }
                _ = reader.head(for: URL(fileURLWithPath: "/")).fields
                _ = reader.framing.verdict(status: reader.status, version: reader.version, isForHead: false)
            })

        /// A body of several members, in two pieces.
        static let gzip = FuzzedParser(
            "gzip", bytes: [hello, hello + hello],
            { input in
                guard let decoder = GzipDecoder() else { return }
                for piece in [input[..<(input.count / 2)], input[(input.count / 2)...]] {
                    piece.withUnsafeBytes { bytes in
                        while case .piece = decoder.next(bytes) { decoder.takePiece() }
                    }
                }
                _ = decoder.isAtEnd
            })

        private static let hello: [UInt8] = [
            0x1f, 0x8b, 0x8, 0x0, 0x0, 0x0, 0x0, 0x0, 0x2, 0x3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40, 0x90,
            0x0, 0x80, 0x88, 0xf9, 0xe5, 0x11, 0x0, 0x0, 0x0,
        ]
    }
#endif
