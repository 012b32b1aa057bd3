import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ResponseDecoderTests {
    private struct User: Codable, Equatable, Sendable { let name: String }

    private struct Nothing: Codable, Equatable, Sendable, EmptyRepresentable {
        static var emptyValue: Nothing { Nothing() }
    }

    private static func response(_ body: [UInt8], type: String? = nil, status: Int = 200) -> TransportResponse {
        TransportResponse(
            head: ResponseHead(
                status: status, url: URL(string: "https://a.example/")!,  // A literal that is a URL.
                fields: type.map { [("Content-Type", $0)] } ?? []),
            body: Data(body))
    }

    private static func error<Value>(_ decoder: ResponseDecoder<Value>, _ response: TransportResponse) async
        -> RequestError?
    {
        await #expect(throws: RequestError.self) { try await decoder.decode(response) }
    }

    // MARK: Data, nothing

    @Test func `Data is the body as it arrived`() async throws {
        #expect(try await ResponseDecoder.data.decode(Self.response([0, 255])) == Data([0, 255]))
    }

    @Test func `Void takes no notice of the body`() async throws {
        try await ResponseDecoder.void.decode(Self.response([0, 255]))
        try await ResponseDecoder.void.decode(Self.response([], status: 204))
    }

    // MARK: Empty bodies

    @Test(arguments: [200, 204, 205])
    func `An empty body is the empty value whatever the status`(status: Int) async throws {
        let empty = Self.response([], status: status)
        #expect(try await ResponseDecoder.data.decode(empty) == Data())
        #expect(try await ResponseDecoder.string.decode(empty) == "")
        #expect(try await ResponseDecoder<User?>.json().decode(empty) == nil)
        #expect(try await ResponseDecoder<User>.json().optional().decode(empty) == nil)
        #expect(try await ResponseDecoder<Nothing>.json().decode(empty) == Nothing())
        #expect(try await ResponseDecoder<Data>.json().decode(empty) == Data())
        #expect(try await ResponseDecoder<String>.json().decode(empty) == "")
        #expect(try await ResponseDecoder<User?>.propertyList().decode(empty) == nil)
        #expect(try await ResponseDecoder<Nothing>.propertyList().decode(empty) == Nothing())
    }

    @Test(arguments: [200, 204, 205])
    func `An empty body of another type fails with the status kept`(status: Int) async {
        for decoder in [ResponseDecoder<User>.json(), .propertyList()] {
            let error = await Self.error(decoder, Self.response([], status: status))
            #expect(error?.code == .emptyBody && error?.head?.status == status && error?.stage == .decode)
        }
    }

    @Test func `An empty body is empty text even in an unknown charset`() async throws {
        #expect(try await ResponseDecoder.string.decode(Self.response([], type: "text/plain;charset=klingon")) == "")
    }

    // MARK: Bodies elsewhere

    /// A response whose body went to a file.
    private static let inFile: TransportResponse = {
        var response = Self.response([])
        response.bodySize = 5
        return response
    }()

    @Test func `A body that is not in memory is neither empty nor data`() async {
        await expectNotInMemory(.data)
        await expectNotInMemory(ResponseDecoder.data.optional())
    }

    @Test func `A body that is not in memory is no text`() async {
        await expectNotInMemory(.string)
        await expectNotInMemory(ResponseDecoder.string.optional())
    }

    @Test func `A body that is not in memory has no value even of a type with an empty form`() async {
        await expectNotInMemory(ResponseDecoder<User>.json())
        await expectNotInMemory(ResponseDecoder<User?>.json())
        await expectNotInMemory(ResponseDecoder<Nothing>.json())
        await expectNotInMemory(ResponseDecoder<Nothing>.propertyList())
    }

    @Test func `Void takes no notice of a body that is not in memory`() async throws {
        try await ResponseDecoder.void.decode(Self.inFile)
    }

    private func expectNotInMemory<Value>(_ decoder: ResponseDecoder<Value>) async {
        let error = await Self.error(decoder, Self.inFile)
        #expect(error?.code == .undecodable && error?.stage == .decode && error?.head?.status == 200)
        #expect(error?.reason == "the body is not in memory")
    }

    // MARK: JSON and property lists

    @Test func `Json is decoded`() async throws {
        let body = Array(#"{"name":"a"}"#.utf8)
        #expect(try await ResponseDecoder.json(User.self).decode(Self.response(body)) == User(name: "a"))
        #expect(try await ResponseDecoder.json(User?.self).decode(Self.response(body)) == User(name: "a"))
        #expect(try await ResponseDecoder.json(User?.self).decode(Self.response(Array("null".utf8))) == nil)
    }

    @Test func `Json is decoded by the decoder given`() async throws {
        let decoder = ResponseDecoder.json([String: Date].self) {
            let decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .secondsSince1970
            return decoder
        }
        let dates = try await decoder.decode(Self.response(Array(#"{"d":1}"#.utf8)))
        #expect(dates == ["d": Date(timeIntervalSince1970: 1)])
    }

    @Test(arguments: ["", "{", #"{"name":1}"#, "\u{0}"])
    func `What is not the value fails`(body: String) async {
        await #expect(throws: (any Error).self) {
            try await ResponseDecoder.json(User.self).decode(Self.response(Array(body.utf8)))
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func `Property lists of both forms are decoded`(format: PropertyListSerialization.PropertyListFormat) async throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        let body = try encoder.encode(User(name: "ä"))
        #expect(try await ResponseDecoder.propertyList(User.self).decode(Self.response(Array(body))) == User(name: "ä"))
    }

    // MARK: Text

    @Test(
        arguments: [
            ("utf-8", [0x61, 0xC3, 0xA4], "aä"), ("UTF-8", [0xE6, 0x97, 0xA5], "日"), ("utf8", [0x61], "a"),
            ("us-ascii", [0x61], "a"), ("ascii", [0x61], "a"), ("iso-8859-1", [0xE4, 0x80], "ä\u{80}"),
            ("latin1", [0xE4], "ä"),
            ("ISO-8859-2", [0xA1], "Ą"), ("latin2", [0xA1], "Ą"), ("windows-1250", [0xE8], "č"),
            ("windows-1251", [0xCF], "П"), ("windows-1252", [0x80], "€"), ("windows-1253", [0xE1], "α"),
            ("windows-1254", [0xDD], "İ"), ("shift_jis", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("Shift_JIS", [0xB1], "ｱ"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
            ("utf-16", [0xFE, 0xFF, 0, 0x61], "a"), ("utf-16", [0xFF, 0xFE, 0x61, 0], "a"),
            ("utf-16", [0, 0x61], "a"), ("utf-16", [0xD8, 0x3D, 0xDE, 0], "😀"),
            ("utf-16be", [0, 0x61], "a"), ("utf-16be", [0xFE, 0xFF, 0, 0x61], "a"),
            ("utf-16le", [0x61, 0], "a"), ("utf-16le", [0xFF, 0xFE, 0x61, 0], "a"),
            ("utf-32", [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x61], "a"), ("utf-32", [0xFF, 0xFE, 0, 0, 0x61, 0, 0, 0], "a"),
            ("utf-32", [0, 0, 0, 0x61], "a"), ("utf-32be", [0, 1, 0xF6, 0], "😀"), ("utf-32le", [0, 0xF6, 1, 0], "😀"),
            ("ISO-8859-3", [0xA1], "Ħ"), ("iso-8859-4", [0xE0], "ā"), ("iso-8859-5", [0xBF], "П"),
            ("iso-8859-6", [0xC7], "ا"), ("iso-8859-7", [0xE1], "α"), ("iso-8859-8", [0xE0], "א"),
            ("iso-8859-9", [0xDD, 0x85], "İ\u{85}"), ("latin5", [0xDD], "İ"), ("iso-8859-10", [0xBD], "―"),
            ("iso-8859-11", [0xA1], "ก"), ("iso-8859-13", [0xE0], "ą"), ("iso-8859-14", [0xA1], "Ḃ"),
            ("iso-8859-15", [0xA4], "€"), ("latin9", [0xA4], "€"), ("iso-8859-16", [0xA4], "€"),
            ("iso_8859-1", [0xE4], "ä"), ("iso8859-1", [0xE4], "ä"), ("cp1252", [0x80], "€"),
            ("windows-1255", [0xE0], "א"), ("windows-1256", [0xC7], "ا"), ("windows-1257", [0xE0], "ą"),
            ("cp1258", [0xD5], "Ơ"), ("windows-874", [0xA1], "ก"), ("TIS-620", [0xA1], "ก"),
            ("KOI8-R", [0xF0, 0x80], "П─"), ("koi8-u", [0xA4], "є"), ("ibm866", [0x8F], "П"),
            ("gb2312", [0xD6, 0xD0], "中"), ("GBK", [0xD6, 0xD0, 0x61], "中a"),
            ("gb18030", [0x94, 0x39, 0xDA, 0x33], "💩"),
            ("big5", [0xA4, 0xA4], "中"), ("Big5-HKSCS", [0xA4, 0xA4], "中"), ("euc-kr", [0xB0, 0xA1], "가"),
            ("cp949", [0x81, 0x41], "갂"), ("windows-31j", [0x87, 0x40], "①"),
            ("l2", [0xA1], "Ą"), ("csISOLatinCyrillic", [0xBF], "П"), ("x-cp1251", [0xCF], "П"), ("sjis", [0xB1], "ｱ"),
            ("866", [0x8F], "П"), ("ksc_5601", [0xB0, 0xA1], "가"), ("x-gbk", [0xD6, 0xD0], "中"),
            ("utf-8", [0xEF, 0xBB, 0xBF, 0x61], "a"), ("\"utf-8\"", [0x61], "a"), ("utf-16", [0xFE, 0xFF], ""),
        ] as [(String, [UInt8], String)])
    func `Text is decoded in its charset`(charset: String, bytes: [UInt8], text: String) async throws {
        let response = Self.response(bytes, type: "text/plain; charset=\(charset)")
        #expect(Array(try await ResponseDecoder.string.decode(response).unicodeScalars) == Array(text.unicodeScalars))
    }

    @Test(
        arguments: [
            ("utf-8", [0xC3, 0x28]), ("utf-8", [0xE4]), ("utf-8", [0xED, 0xA0, 0x80]), ("utf-8", [0xC0, 0x80]),
            ("utf-8", [0x61, 0xFF]), ("us-ascii", [0xE4]), ("shift_jis", [0xFF]), ("utf-16", [0x61]),
            ("utf-16", [0xFE, 0xFF, 0]), ("utf-16be", [0, 0x61, 0]), ("utf-16le", [0, 0xD8, 0x61, 0]),
            ("utf-16be", [0xDC, 0]), ("utf-32", [0, 0, 0x61]), ("utf-32be", [0, 0x11, 0, 0]),
            ("utf-32le", [0, 0xD8, 0, 0]), ("klingon", [0x61]), ("", [0xFF]), ("euc-jp", [0x61]), ("macintosh", [0x61]),
            ("iso-8859-12", [0x61]), ("iso-8859-3", [0xA5]), ("windows-1252", [0x81]), ("windows-1255", [0x81]),
            ("windows-1257", [0x81]), ("windows-874", [0x81]), ("windows-874", [0xFC]), ("gbk", [0xD6]),
            ("gb18030", [0x61, 0xFF]), ("gb18030", [0x81, 0x30, 0x81]), ("big5", [0xA4, 0xA4, 0xA4]), ("big5", [0xFF]),
            ("euc-kr", [0xFF]), ("euc-kr", [0xB0, 0x20]),
        ] as [(String, [UInt8])])
    func `Wrong bytes and unknown charsets are undecodable`(charset: String, bytes: [UInt8]) async {
        let error = await Self.error(.string, Self.response(bytes, type: "text/plain; charset=\(charset)"))
        #expect(error?.code == .undecodable && error?.head?.status == 200)
    }

    @Test(arguments: [nil, "text/plain", "garbage", "text/plain; charset", "text/plain;charset="])
    func `A response without a charset has the default`(type: String?) async throws {
        #expect(try await ResponseDecoder.string.decode(Self.response([0xC3, 0xA4], type: type)) == "ä")
        #expect(try await ResponseDecoder.string(default: .isoLatin1).decode(Self.response([0xE4], type: type)) == "ä")
    }

    /// Media types that are not well formed, or are so in an unusual way, with a charset in which the bytes mean something else
    /// than in UTF-8.
    @Test(arguments: [
        "text/plain; charset= utf-16le", "text/plain;charset=utf-16le ;", "text/plain; charset=\"utf-16le",
        "text/plain; charset='utf-16le'", "text/plain; charset=\"'UTF-16LE'\"", "text/plain;;charset=utf-16le",
        "text/plain; charset=utf-16le; charset=utf-8", "text/plain; charset=\"utf-16le\"x; y",
        "text/plain; charset=\"utf\\-16le\"", "text/plain; =1; charset=utf-16le", "text/plain;\tcharset=\tutf-16le",
        "text/plain; charset; charset=utf-16le", "text/plain; x=\"a;b\"; charset=\" utf-16le \"",
        "text/plain; charset=utf-16le, text/plain; charset=utf-16le", "text/plain, text/plain; charset=utf-16le",
        "text/plain; charset=UTF-16LE, text/plain; charset=utf-16le", "text/plain; charset=utf-16le, Text/Plain; x=1",
    ])
    func `A charset is found in a type that is not well formed`(type: String) async throws {
        #expect(try await ResponseDecoder.string.decode(Self.response([0x61, 0x62], type: type)) == "扡")
    }

    /// Where the charset cannot be read, UTF-8 would give other text than was sent.
    @Test(arguments: [
        "text/plain; charset = utf-16le", "text/plain charset=utf-16le", "charset=utf-16le", "text; charset=utf-16le",
        "text/plain, charset=utf-16le", "text/plain; x=\"a; charset=utf-16le", "text/plain; charset=utf-16le\"",
        "text/plain; charset=utf-8, text/plain; charset=utf-16le", "text/html, text/plain; charset=utf-16le",
        "text/plain; charset= \"utf-16le\"", "text/plain; charset=utf-16le utf-8", "text/plain; charset=''",
        "text/plain; charset=€", "text/plain; charset=\"\"", "text/plain; charset=unicode", "/; charset=utf-16le",
    ])
    func `A charset that cannot be read is undecodable`(type: String) async {
        let error = await Self.error(.string, Self.response([0x61, 0x62], type: type))
        #expect(error?.code == .undecodable && error?.reason?.hasPrefix("the charset") == true)
    }

    @Test(arguments: [
        "text/plain; charset=utf8", "text/plain; charset='utf8'", "text/plain; charset=unicode-1-1-utf-8",
        "text/plain; x=\"charset=utf-16le\"", "text/plain; x-charset=utf-16le", "text/plain, text/plain",
        "text/plain; charset=, text/html",
    ])
    func `Text in UTF8 is read as such`(type: String) async throws {
        #expect(try await ResponseDecoder.string.decode(Self.response([0xC3, 0xA4], type: type)) == "ä")
    }

    /// A field of 100 KB in which no quotation mark is closed, or each one could be.
    @Test(
        .timeLimit(.minutes(2)),
        arguments: ["\\\"", "\"", "\" ", "charset", "charset ", ", ", ";charset=", "a/b,"])
    func `A long field without a charset has the default`(piece: String) async throws {
        let type = "text/plain; x=\"" + String(repeating: piece, count: 100_000 / piece.utf8.count)
        #expect(try await ResponseDecoder.string.decode(Self.response([0xC3, 0xA4], type: type)) == "ä")
    }

    @Test(.timeLimit(.minutes(2)))
    func `A charset that cannot be read is found at the end of a long field`() async {
        let type = "text/plain; x=\"" + String(repeating: "\\\"", count: 50_000) + "; charset=utf-16le"
        let error = await Self.error(.string, Self.response([0x61, 0x62], type: type))
        #expect(error?.reason == "the charset cannot be read")
    }

    @Test func `The declared charset comes before the default`() async throws {
        let response = Self.response([0xC3, 0xA4], type: "text/plain;charset=utf-8")
        #expect(try await ResponseDecoder.string(default: .isoLatin1).decode(response) == "ä")
    }

    // MARK: Composition

    @Test func `A value can be mapped`() async throws {
        #expect(try await ResponseDecoder.string.map(\.count).decode(Self.response([0x61, 0x62])) == 2)
    }

    @Test func `An error of the mapping is that of the decoder`() async {
        struct Mine: Error {}
        await #expect(throws: Mine.self) {
            try await ResponseDecoder.data.map { _ -> Int in throw Mine() }.decode(Self.response([]))
        }
    }

    @Test func `A decoder runs on its queue`() async throws {
        let queue = OperationQueue()
        let decoder = ResponseDecoder<OperationQueue?> { _ in OperationQueue.current }
        #expect(try await decoder.on(queue).decode(Self.response([])) === queue)
    }
}
