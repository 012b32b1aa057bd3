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
