import Testing

@testable import RequestOperations

/// The examples of RFC 6570, section 3.2.
@Suite(.timeLimit(.minutes(10))) struct URITemplateTests {
    private static func list(_ elements: [String]) -> ParameterNode {
        let list = ParameterList()
        list.elements = elements.map { .text($0) }
        return .list(list)
    }

    private static func record(_ members: [(String, String)]) -> ParameterNode {
        let record = ParameterRecord()
        for (name, value) in members { record.set(name, .text(value)) }
        return .record(record)
    }

    private static var values: [String: ParameterNode] {
        [
            "count": list(["one", "two", "three"]), "dom": list(["example", "com"]), "dub": .text("me/too"),
            "hello": .text("Hello World!"), "half": .text("50%"), "var": .text("value"), "who": .text("fred"),
            "base": .text("http://example.com/home/"), "path": .text("/foo/bar"),
            "list": list(["red", "green", "blue"]), "keys": record([("semi", ";"), ("dot", "."), ("comma", ",")]),
            "v": .text("6"), "x": .text("1024"), "y": .text("768"), "empty": .text(""), "empty_keys": record([]),
            "undef": .null,
        ]
    }

    @Test(arguments: [
        ("{count}", "one,two,three"), ("{count*}", "one,two,three"), ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"), ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"), ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"), ("{&count*}", "&count=one&count=two&count=three"),
        ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{half}", "50%25"), ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"), ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"), ("?{undef,y}", "?768"), ("{var:3}", "val"), ("{var:30}", "value"),
        ("{list}", "red,green,blue"), ("{list*}", "red,green,blue"), ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"), ("{+var}", "value"), ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"), ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"), ("O{+empty}X", "OX"), ("O{+undef}X", "OX"),
        ("{+path}/here", "/foo/bar/here"), ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"), ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"), ("{+path:6}/here", "/foo/b/here"), ("{+list}", "red,green,blue"),
        ("{+list*}", "red,green,blue"), ("{+keys}", "semi,;,dot,.,comma,,"), ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{#var}", "#value"), ("{#hello}", "#Hello%20World!"), ("{#half}", "#50%25"), ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"), ("{#x,hello,y}", "#1024,Hello%20World!,768"), ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("{#path:6}/here", "#/foo/b/here"), ("{#list*}", "#red,green,blue"), ("{#keys}", "#semi,;,dot,.,comma,,"),
        ("{.who}", ".fred"), ("{.who,who}", ".fred.fred"), ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"),
        ("X{.var}", "X.value"), ("X{.empty}", "X."), ("X{.undef}", "X"), ("X{.var:3}", "X.val"),
        ("X{.list}", "X.red,green,blue"), ("X{.list*}", "X.red.green.blue"), ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"), ("X{.empty_keys}", "X"), ("X{.empty_keys*}", "X"),
        ("{/who}", "/fred"), ("{/who,who}", "/fred/fred"), ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var}", "/value"), ("{/var,empty}", "/value/"), ("{/var,undef}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/var:1,var}", "/v/value"), ("{/list}", "/red,green,blue"), ("{/list*}", "/red/green/blue"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"), ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"), ("{;who}", ";who=fred"), ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"), ("{;v,empty,who}", ";v=6;empty;who=fred"), ("{;v,bar,who}", ";v=6;who=fred"),
        ("{;x,y}", ";x=1024;y=768"), ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{;x,y,undef}", ";x=1024;y=768"),
        ("{;hello:5}", ";hello=Hello"), ("{;list}", ";list=red,green,blue"),
        ("{;list*}", ";list=red;list=green;list=blue"),
        ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"), ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        ("{?who}", "?who=fred"),
        ("{?half}", "?half=50%25"), ("{?x,y}", "?x=1024&y=768"), ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"), ("{?var:3}", "?var=val"), ("{?list}", "?list=red,green,blue"),
        ("{?list*}", "?list=red&list=green&list=blue"), ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"), ("{&who}", "&who=fred"), ("{&half}", "&half=50%25"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"), ("{&x,y,empty}", "&x=1024&y=768&empty="),
        ("{&x,y,undef}", "&x=1024&y=768"),
        ("{&var:3}", "&var=val"), ("{&list}", "&list=red,green,blue"), ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
    ])
    func `An expression is expanded`(_ template: String, _ expected: String) throws {
        let expansion = try URITemplate(template).expanded(with: Self.values) { value, _ in
            try URLEncodedFormEncoder().text(of: value, path: [])
        }
        #expect(expansion == expected)
    }

    @Test func `A prefix is of scalars and before escaping`() throws {
        let expansion = try URITemplate("{a:2}").expanded(with: ["a": .text("ü/x")]) { value, _ in
            try URLEncodedFormEncoder().text(of: value, path: [])
        }
        #expect(expansion == "%C3%BC%2F")
    }

    @Test func `A prefix of several values is an error`() throws {
        let template = try URITemplate("{list:3}")
        #expect(throws: EndpointProblem.self) { try template.expanded(with: Self.values) { _, _ in "" } }
    }

    @Test(arguments: [
        "{}", "{a b}", "{a-b}", "{ü}", "{a..b}", "{.a.}", "{%4}", "{%zz}", "{a:0}", "{a:}", "{a:10000}", "{a:+1}",
        "{a**}",
        "{a:1*}", "{a,}", "{!a}",
    ])
    func `An expression that the RFC does not know is an error`(_ template: String) {
        #expect(throws: EndpointProblem.self) { try URITemplate(template) }
    }

    @Test func `Names may have dots and escapes and prefixes up to four digits`() throws {
        #expect(try URITemplate("{a.b_1,%4aX,c:9999}").variables == ["a.b_1", "%4aX", "c"])
    }

    @Test func `A literal is escaped where it must be`() throws {
        #expect(try URITemplate("a b/ü%20%z").expanded(with: [:]) { _, _ in "" } == "a%20b/%C3%BC%20%25z")
    }
}
