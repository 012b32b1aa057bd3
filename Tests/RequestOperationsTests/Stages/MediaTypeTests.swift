import Testing

@testable import RequestOperations

@Suite struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", "application", "json"), ("Text/HTML", "text", "html"), ("*/*", "*", "*"),
        ("text/*", "text", "*"), ("application/problem+json", "application", "problem+json"),
        ("  text/plain  ", "text", "plain"), ("application/json;", "application", "json"),
        ("application/json ; ", "application", "json"), ("application/json;;", "application", "json"),
        ("application/vnd.api.v1+json", "application", "vnd.api.v1+json"),
        ("a!#$%&'*+-.^_`|~1/b", "a!#$%&'*+-.^_`|~1", "b"),
    ])
    func aTypeIsReadWithoutRegardToCase(text: String, type: String, subtype: String) throws {
        let mediaType = try #require(MediaType(text))
        #expect(mediaType.type == type && mediaType.subtype == subtype && mediaType.parameters.isEmpty)
    }

    @Test(arguments: [
        "", " ", "json", "/", "text/", "/html", "*/json", "text//html", "text/html/x", "text /html", "text/ html",
        "text/html text/plain", "text/html,text/plain", "téxt/html", "text/html charset=utf-8", "text/\"html\"", ";",
        "a/b\0",
    ])
    func whatIsNoTypeIsRefused(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(arguments: [
        ("a/b;charset=utf-8", ["charset": "utf-8"]), ("a/b; Charset=UTF-8", ["charset": "UTF-8"]),
        ("a/b ;\tx=1;y=2", ["x": "1", "y": "2"]), ("a/b; x=\"q s; t\"", ["x": "q s; t"]),
        ("a/b; x=\"a\\\"b\\\\c\"; y=2", ["x": "a\"b\\c", "y": "2"]), ("a/b; x=\"\"", ["x": ""]),
        ("a/b; x=1; x=2", ["x": "1"]), ("a/b; x=1;", ["x": "1"]), ("a/b; X=1; x=2", ["x": "1"]),
    ])
    func parametersAreTokensOrQuotedStrings(text: String, parameters: [String: String]) {
        #expect(MediaType(text)?.parameters == parameters)
    }

    @Test(arguments: [
        "a/b; x=; y=2", "a/b; =1; y=2", "a/b; x; y=2", "a/b; x =1; y=2", "a/b; x= 1; y=2", "a/b; x=1 1; y=2",
        "a/b; x=é; y=2", "a/b; y=2; x=\"open", "a/b; y=2; x=\"open\\", "a/b; x=1, c/d; y=2",
    ])
    func aParameterThatCannotBeReadIsPassedOver(text: String) {
        #expect(MediaType(text)?.parameters == ["y": "2"])
    }

    @Test(arguments: [
        ("*/*", "text/html", true), ("text/*", "text/html", true), ("text/*", "image/png", false),
        ("text/html", "text/html", true), ("text/html", "text/htmlx", false), ("text/html", "text/*", false),
        ("application/json", "application/problem+json", false), ("TEXT/HTML", "text/html", true),
        ("text/html", "text/html;charset=utf-8", true), ("text/html;charset=utf-8", "text/html", false),
        ("text/html;charset=utf-8", "text/html; CHARSET=\"UTF-8\"", true),
        ("text/html;charset=utf-8", "text/html;charset=latin1", false),
        ("text/html;level=1", "text/html;level=1;x=2", true), ("text/html;level=A", "text/html;level=a", false),
        ("text/html;level=1;x=3", "text/html;level=1;x=2", false), ("text/*;q=0.5", "text/html", true),
        ("*/*;q=0.5", "text/html;q=1", true),
    ])
    func aRangeIncludesItsTypes(range: String, type: String, isIncluded: Bool) throws {
        #expect(try #require(MediaType(range)).includes(#require(MediaType(type))) == isIncluded)
    }

    @Test func noBytesTrapTheParser() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("a/*;=\"\\ \t,é\0".unicodeScalars)
        for _ in 0..<20_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                // The alphabet is not empty.
                text.append(alphabet.randomElement(using: &random)!)
            }
            _ = MediaType(String(text))
        }
    }
}
