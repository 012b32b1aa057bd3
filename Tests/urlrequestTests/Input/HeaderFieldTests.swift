import Testing

@testable import urlrequest

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
