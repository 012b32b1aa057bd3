import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", "application", "json"), ("Text/HTML", "text", "html"), ("*/*", "*", "*"),
        ("text/*", "text", "*"), ("application/problem+json", "application", "problem+json"),
        ("  text/plain  ", "text", "plain"), ("application/json;", "application", "json"),
        ("application/json ; ", "application", "json"), ("application/json;;", "application", "json"),
        ("application/vnd.api.v1+json", "application", "vnd.api.v1+json"),
        ("a!#$%&'*+-.^_`|~1/b", "a!#$%&'*+-.^_`|~1", "b"),
    ])
    func `A type is read without regard to case`(text: String, type: String, subtype: String) throws {
        let mediaType = try #require(MediaType(text))
        #expect(mediaType.type == type && mediaType.subtype == subtype && mediaType.parameters.isEmpty)
    }

    @Test(arguments: [
        "", " ", "json", "/", "text/", "/html", "*/json", "text//html", "text/html/x", "text /html", "text/ html",
        "text/html text/plain", "text/html,text/plain", "téxt/html", "text/html charset=utf-8", "text/\"html\"", ";",
        "a/b\0",
    ])
    func `What is no type is refused`(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(arguments: [
        ("a/b;charset=utf-8", ["charset": "utf-8"]), ("a/b; Charset=UTF-8", ["charset": "UTF-8"]),
        ("a/b ;\tx=1;y=2", ["x": "1", "y": "2"]), ("a/b; x=\"q s; t\"", ["x": "q s; t"]),
        ("a/b; x=\"a\\\"b\\\\c\"; y=2", ["x": "a\"b\\c", "y": "2"]), ("a/b; x=\"\"", ["x": ""]),
        ("a/b; x=1; x=2", ["x": "1"]), ("a/b; x=1;", ["x": "1"]), ("a/b; X=1; x=2", ["x": "1"]),
    ])
    func `Parameters are tokens or quoted strings`(text: String, parameters: [String: String]) {
        #expect(MediaType(text)?.parameters == parameters)
    }

    @Test(arguments: [
        "a/b; x=; y=2", "a/b; =1; y=2", "a/b; x; y=2", "a/b; x =1; y=2", "a/b; x=\u{B}; y=2", "a/b; \"; y=2",
    ])
    func `A parameter that cannot be read is passed over`(text: String) {
        #expect(MediaType(text)?.parameters == ["y": "2"])
    }

    // Inputs along each step of "parse a MIME type" and "collect an HTTP quoted string".
    @Test(arguments: [
        ("a/b; x= 1; y=2", ["x": " 1", "y": "2"]), ("a/b; x=1 1 ; y=2", ["x": "1 1", "y": "2"]),
        ("a/b; x=é; y=2", ["x": "é", "y": "2"]), ("a/b; x=€; y=2", ["y": "2"]), ("a/b; x=\u{7F}", [:]),
        ("a/b; x=(", ["x": "("]), ("a/b; x='1'", ["x": "'1'"]), ("a/b; x=1\"", ["x": "1\""]),
        ("a/b; x= \"1\"", ["x": " \"1\""]), ("a/b; x=1, c/d; y=2", ["x": "1, c/d", "y": "2"]),
        ("a/b; x=\"open", ["x": "open"]), ("a/b; x=\"open; y=2", ["x": "open; y=2"]),
        ("a/b; x=\"open\\", ["x": "open\\"]),
        ("a/b; x=\"\\o\\p\"", ["x": "op"]), ("a/b; x=\"1\"2; y=2", ["x": "1", "y": "2"]),
        ("a/b; x=\"\"; x=2", ["x": ""]), ("a/b; x=(); x=2", ["x": "()"]), ("a/b; x=; x=2", ["x": "2"]),
        ("a/b;\n x=1\r\n;\t\r\ny=2", ["x": "1", "y": "2"]), ("\r\na/b; x=1 \t", ["x": "1"]),
    ])
    func aValueIsReadAsBrowsersReadIt(text: String, parameters: [String: String]) {
        #expect(MediaType(text)?.parameters == parameters)
    }

    @Test(arguments: [
        "a/b; x=1, a/b; x=1", "a/b;x=1,A/B ; X=1", "a/b; x=1, */*;x=2, b, ", ", a/b;x=1", "a/b; x=\"1\", a/b; x=1",
    ])
    func `Equal types of a field are one`(field: String) throws {
        let type = try #require(MediaType.ofField(field))
        #expect(type.type == "a" && type.subtype == "b" && type.parameters == ["x": "1"])
    }

    @Test(arguments: [
        ("text/html, text/html; charset=utf-8", ["charset": "utf-8"]),
        ("text/html; charset=utf-8, text/html", ["charset": "utf-8"]),
        ("text/html; charset=UTF-8, text/html; charset=utf-8", ["charset": "utf-8"]),
        ("text/html; charset=utf8, Text/HTML; charset='UTF-8'", ["charset": "'UTF-8'"]),
        ("text/html; charset=klingon, text/html;charset=Klingon", ["charset": "Klingon"]),
        ("text/html; x=1; charset=utf-8, text/html; x=2", ["x": "2", "charset": "utf-8"]),
        ("text/html; charset=utf-8, */*; charset=latin1, b, ", ["charset": "utf-8"]),
        ("text/html; x=1, text/html; x=2", ["x": "2"]), ("text/html; x=1, text/html", [:]),
    ])
    func `The last type of a field takes the charset of another`(field: String, parameters: [String: String]) throws {
        let type = try #require(MediaType.ofField(field))
        #expect(type.type == "text" && type.subtype == "html" && type.parameters == parameters)
    }

    @Test(arguments: [
        "a/b, a/c", "a/b, c/b", "a/b;charset=utf-8, a/c;charset=utf-8", "a/b;charset=utf-8, a/b;charset=latin1",
        "a/b;charset=utf-8, a/b, a/b;charset=latin1", "a/b;charset=klingon, a/b;charset=vulcan", ",", "b, c", "*/*",
    ])
    func `Different types or charsets of a field and none leave it open`(field: String) {
        #expect(MediaType.ofField(field) == nil)
    }

    @Test func `A comma in a quoted string parts nothing`() {
        #expect(MediaType.ofField("a/b; x=\"1, c/d\"")?.parameters == ["x": "1, c/d"])
    }

    @Test(arguments: [
        ("*/*", "text/html", true), ("text/*", "text/html", true), ("text/*", "image/png", false),
        ("text/html", "text/html", true), ("text/html", "text/htmlx", false), ("text/html", "text/*", false),
        ("application/json", "application/problem+json", false), ("TEXT/HTML", "text/html", true),
        ("text/html", "text/html;charset=utf-8", true), ("text/html;charset=utf-8", "text/html", false),
        ("text/html;charset=utf-8", "text/html; CHARSET=\"UTF-8\"", true),
        ("text/html;charset=utf-8", "text/html;charset=latin1", false),
        ("a/b;charset=utf-8", "a/b;charset='UTF8'", true),
        ("a/b;charset=klingon", "a/b; charset= KLINGON", true), ("a/b;charset=klingon", "a/b;charset=vulcan", false),
        ("text/html;level=1", "text/html;level=1;x=2", true), ("text/html;level=A", "text/html;level=a", false),
        ("text/html;level=1;x=3", "text/html;level=1;x=2", false), ("text/*;q=0.5", "text/html", true),
        ("*/*;q=0.5", "text/html;q=1", true),
    ])
    func `A range includes its types`(range: String, type: String, isIncluded: Bool) throws {
        #expect(try #require(MediaType(range)).includes(#require(MediaType(type))) == isIncluded)
    }

    @Test func `No bytes trap the parser`() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("a/*;=\"\\ \t,é\0".unicodeScalars)
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                // The alphabet is not empty.
                text.append(alphabet.randomElement(using: &random)!)
            }
            _ = MediaType(String(text))
            _ = MediaType.ofField(String(text))
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct CharsetTests {
    /// The bytes that a charset leaves undefined, as Python's tables have them.
    private static let undefined: [String: String] = [
        "windows-1250": "81 83 88 90 98", "windows-1251": "98", "windows-1252": "81 8D 8F 90 9D",
        "windows-1253": "81 88 8A 8C 8D 8E 8F 90 98 9A 9C 9D 9E 9F AA D2 FF", "windows-1254": "81 8D 8E 8F 90 9D 9E",
        "windows-1255": "81 8A 8C 8D 8E 8F 90 9A 9C 9D 9E 9F CA D9 DA DB DC DD DE DF FB FC FF", "windows-1256": "",
        "windows-1257": "81 83 88 8A 8C 90 98 9A 9C 9F A1 A5", "windows-1258": "81 8A 8D 8E 8F 90 9A 9D 9E",
        "windows-874":
            "81 82 83 84 86 87 88 89 8A 8B 8C 8D 8E 8F 90 98 99 9A 9B 9C 9D 9E 9F DB DC DD DE FC FD FE FF",
        "koi8-r": "", "koi8-u": "", "ibm866": "", "iso-8859-1": "", "iso-8859-2": "",
        "iso-8859-3": "A5 AE BE C3 D0 E3 F0", "iso-8859-4": "", "iso-8859-5": "",
        "iso-8859-6": """
        A1 A2 A3 A5 A6 A7 A8 A9 AA AB AE AF B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 BA BC BD BE C0 DB DC DD DE DF F3 F4 F5 F6 \
        F7 F8 F9 FA FB FC FD FE FF
        """,
        "iso-8859-7": "AE D2 FF",
        "iso-8859-8": """
        A1 BF C0 C1 C2 C3 C4 C5 C6 C7 C8 C9 CA CB CC CD CE CF D0 D1 D2 D3 D4 D5 D6 D7 D8 D9 DA DB DC DD DE FB FC FF
        """,
        "iso-8859-9": "", "iso-8859-10": "", "iso-8859-11": "DB DC DD DE FC FD FE FF", "iso-8859-13": "",
        "iso-8859-14": "", "iso-8859-15": "", "iso-8859-16": "",
    ]

    @Test(arguments: undefined.keys.sorted())
    func `A byte that a charset leaves undefined is an error, and no other is`(name: String) throws {
        let charset = try #require(Charset(name: name))
        let expected = try #require(Self.undefined[name]).split(separator: " ").map { UInt8($0, radix: 16) }
        let undecodable = (0...0xFF).map { UInt8($0) }.filter { charset.text(of: Data([0x61, $0])) == nil }
        #expect(undecodable == expected)
    }
}
