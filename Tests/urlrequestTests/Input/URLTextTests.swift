import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct URLTextTests {
    @Test(arguments: [
        ("http://a.example/a b", "http://a.example/a%20b"),
        ("http://a.example/{x}|^`", "http://a.example/%7Bx%7D%7C%5E%60"),
        (#"http://a.example/"<x>\y"#, "http://a.example/%22%3Cx%3E%5Cy"),
        ("http://a.example/[x]", "http://a.example/%5Bx%5D"),
        ("http://a.example/?a=b c|d#e f", "http://a.example/?a=b%20c%7Cd#e%20f"),
        ("http://a.example?x={1}", "http://a.example?x=%7B1%7D"),
        ("http://a.example/ü?q=é", "http://a.example/%C3%BC?q=%C3%A9"),
    ])
    func `What a URL cannot hold is escaped, as in a Location`(_ text: String, _ url: String) throws {
        #expect(try URL(requestable: text).absoluteString == url)
    }

    @Test(arguments: [
        ("http://a.example/100%", "http://a.example/100%25"),
        ("http://a.example/%zz%20", "http://a.example/%25zz%20"),
        ("http://a.example/?a=5%&b=%7C|", "http://a.example/?a=5%25&b=%7C%7C"),
    ])
    func `A percent sign is escaped where it begins no escape, and only there`(_ text: String, _ url: String) throws {
        #expect(try URL(requestable: text).absoluteString == url)
    }

    @Test(arguments: [
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("https://u:p@BÜCHER.example:8080/a|b", "https://u:p@xn--bcher-kva.example:8080/a%7Cb"),
        ("http://b%C3%BCcher.example/", "http://xn--bcher-kva.example/"),
        ("http://日本語.jp?x", "http://xn--wgv71a119e.jp?x"),
        ("http://faß.de", "http://xn--fa-hia.de"), ("http://Ａ。example/", "http://a.example/"),
    ])
    func `The name of a host beyond ASCII becomes that of IDNA`(_ text: String, _ url: String) throws {
        #expect(try URL(requestable: text).absoluteString == url)
    }

    @Test(arguments: [
        "http://a.example/b/../c?d=%2f#e", "HTTP://A.example", "http://[::1]:80/x", "http://[fe80::1%25eth0]/x",
        "http://u:p%40@a.example:1/", "http://a_b.example/x;y=(z)", "https://127.0.0.1:65535/'!*",
    ])
    func `What is a URL stays as it is`(_ text: String) throws {
        #expect(try URL(requestable: text).absoluteString == text)
    }

    @Test(arguments: [
        ("http://u|:p^@a.example/", "http://u%7C:p%5E@a.example/"),
        ("http://a@b:c@d.example/", "http://a%40b:c@d.example/"),
        ("http://ü@a.example/", "http://%C3%BC@a.example/"),
    ])
    func `User and password are escaped, up to the last at sign`(_ text: String, _ url: String) throws {
        #expect(try URL(requestable: text).absoluteString == url)
    }

    @Test(arguments: [
        ("a.example/x", "the URL has no scheme", 1),
        ("ftp://a.example/", "the scheme “ftp” is neither http nor https", 1),
        ("localhost:80/", "the scheme “localhost” is neither http nor https", 1),
        ("http:/a.example/", "“//” is missing behind the scheme", 6), ("http://", "the URL has no host", 8),
        ("http:///x", "the URL has no host", 8), ("http://u@:80/x", "the URL has no host", 10),
        ("http://a b/", "the character “ ” cannot stand in the name of a host", 9),
        ("http://a|b/", "the character “|” cannot stand in the name of a host", 9),
        ("http://é.a^b/", "the character “^” cannot stand in the name of a host", 11),
        ("http://a%2Fb/", "the character “/” cannot stand in the name of a host", 9),
        ("http://a%zz/", "the character “%” cannot stand in the name of a host", 9),
        ("http://a.example:8x/", "the character “x” cannot stand in a port", 19),
        ("http://a.example:65536/", "the port is none from 1 to 65535", 18),
        ("http://a.example:0/", "the port is none from 1 to 65535", 18),
        ("http://[::1/", "“]” is missing behind the address", 8),
        ("http://[zz]/", "“[zz]” is no address of IPv6", 8),
        ("http://a.example/a\u{00}b", "the character U+0000 cannot stand in a URL", 19),
        ("http://a.example/a\tb", "the character U+0009 cannot stand in a URL", 19),
        ("http://-ü.example/", "the host “-ü.example” is no name that IDNA allows", 8),
    ])
    func `A fault is named with its column`(_ text: String, _ fault: String, _ column: Int) {
        #expect(throws: UnusableInput(fault, column: column)) { try URL(requestable: text) }
    }

    @Test func `A backslash ends no host, so that nobody is sent to another one`() {
        #expect(throws: UnusableInput("the character “\\” cannot stand in the name of a host", column: 17)) {
            try URL(requestable: #"http://a.example\.b.example/"#)
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct HeaderFieldTests {
    @Test func `A field is split at its first colon, without space around its parts`() throws {
        #expect(try HeaderField(line: "X-Time :  12:30 ") == HeaderField(name: "X-Time", value: "12:30"))
    }

    @Test func `A value may be empty`() throws {
        #expect(try HeaderField(line: "X-Empty:").value == "")
    }

    @Test func `A value may have characters beyond ASCII and tabs inside`() throws {
        #expect(try HeaderField(line: "X: é\tb").value == "é\tb")
    }

    @Test(arguments: ["no colon", ": value", "a b: c", "ü: c", "a\r\nb: c"])
    func `A line that is no field is refused`(_ line: String) {
        #expect(throws: UnusableInput.self) { try HeaderField(line: line) }
    }

    @Test(arguments: ["Content-Length: 5", "transfer-encoding: chunked"])
    func `A field that says where a body ends is refused`(_ line: String) {
        #expect(throws: UnusableInput.self) { try HeaderField(line: line) }
    }

    @Test(arguments: ["a\r\nX-Other: b", "a\nb", "a\rb", "a\u{00}b", "\u{7F}"])
    func `A control character in a value is refused`(_ value: String) {
        #expect(throws: UnusableInput.self) { try HeaderField(name: "X", value: value) }
    }
}
