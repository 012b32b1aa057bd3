import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct RequestTemplateTests {
    // MARK: URLs

    @Test func `A line is a URL, with space around it or not`() throws {
        let request = try #require(try RequestTemplate().request(from: line(" http://a.example/b?c=d\t"), id: 7))
        #expect(request.url == "http://a.example/b?c=d")
        #expect(request.request.httpMethod == "GET")
        #expect(request.body.isNone)
        #expect(request.id == 7)
    }

    @Test(arguments: ["", "  ", "\t", "# x", " #{", "#"])
    func `A line without anything makes no request, nor does a comment`(_ text: String) throws {
        #expect(try RequestTemplate().request(from: line(text), id: 1) == nil)
    }

    @Test(arguments: [
        "example.com/path", "/path", "ftp://a.example/", "file:///etc/passwd", "mailto:a@b.example", "http:/a",
        "http://", "http:///path", "http://a b/", "http://a.example:99999/", "http://a.example:0/",
        "http://a.example/a\u{00}b", "http://[::1/", "localhost:80/x", "http://a.example:x/",
    ])
    func `What no request can be sent to is refused`(_ text: String) {
        #expect(throws: UnusableInput.self) { try RequestTemplate().request(from: line(text), id: 1) }
    }

    @Test func `A column is that of the line, space included`() {
        #expect(throws: UnusableInput("the character “|” cannot stand in the name of a host", column: 11)) {
            try RequestTemplate().request(from: line("  http://a|b/"), id: 1)
        }
    }

    @Test func `An argument is a URL with space around it or not, and no comment`() throws {
        #expect(try RequestTemplate().request(fromURL: " http://a.example/ ", id: 1).url == "http://a.example/")
        #expect(throws: UnusableInput.self) { try RequestTemplate().request(fromURL: "# x", id: 1) }
    }

    @Test(arguments: [
        ("http://u:p@a.example/b?c=d#e", "http://a.example/b?c=d#e"), ("https://u@a.example", "https://a.example"),
        ("HTTP://u:@a.example:8080?x@y", "HTTP://a.example:8080?x@y"),
        ("http://u:p%40@[::1]/@x", "http://[::1]/@x"), ("http://a.example/x@y://z@", "http://a.example/x@y://z@"),
    ])
    func `A URL is printed without user and password, and sent with them`(_ url: String, _ printed: String) throws {
        let request = try RequestTemplate().request(fromURL: url, id: 1)
        #expect(request.url == printed && request.request.url?.absoluteString == url)
    }

    @Test func `A line that is not UTF-8 is refused, and the byte is named`() {
        let bytes: [UInt8] = Array("http://a.example/ü".utf8) + [0xFF]
        #expect(throws: UnusableInput("the byte 0xFF belongs to no text in UTF-8", column: 19)) {
            try RequestTemplate().request(from: .bytes(bytes[...]), id: 1)
        }
    }

    @Test func `A line that is too long is refused`() {
        #expect(throws: UnusableInput.self) { try RequestTemplate().request(from: .tooLong, id: 1) }
    }

    @Test func `A request takes one place, and one more for each 8 KiB that its line brings`() throws {
        #expect(try RequestTemplate().request(fromURL: "http://a.example/", id: 1).places == 1)
        let text = String(repeating: "x", count: 80 << 10)
        #expect(try request(#"{"url":"http://a.example/","body":"\#(text)"}"#).places == 11)
        #expect(try request(#"{"url":"http://a.example/","headers":{"X":"\#(text)"}}"#).places == 11)
    }

    @Test func `A body or field of all requests takes no places of each`() throws {
        let fields = [try HeaderField(name: "X", value: String(repeating: "x", count: 80 << 10))]
        let shared = RequestTemplate(fields: fields, body: .data(Data(count: 80 << 10)))
        #expect(try shared.request(fromURL: "http://a.example/", id: 1).places == 1)
    }

    @Test func `Several cookies make one field that is separated by semicolons`() throws {
        let template = RequestTemplate(fields: [
            try HeaderField(line: "Cookie: a=1"), try HeaderField(line: "cookie: b=2"),
        ])
        let request = try template.request(fromURL: "http://a.example/", id: 1).request
        #expect(request.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
    }

    // MARK: JSON

    @Test func `A JSON line gives method, URL, fields and body`() throws {
        let request = try request(
            #"{"method":"PATCH","url":"http://a.example/","headers":{"X-A":"1","X-B":["2","3"]},"body":"tëxt"}"#)
        #expect(request.request.httpMethod == "PATCH")
        #expect(request.request.value(forHTTPHeaderField: "x-a") == "1")
        #expect(request.request.value(forHTTPHeaderField: "X-B") == "2,3")
        #expect(text(request.body) == "tëxt")
        #expect(request.request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test func `An object or an array is sent as its own text, as application json`() throws {
        for body in [#"{"b": 1.0, "a": [1e400]}"#, "[1, 2.50]"] {
            let request = try request(#"{"url":"http://a.example/","body": \#(body) }"#)
            #expect(text(request.body) == body)
            #expect(request.request.value(forHTTPHeaderField: "Content-Type") == "application/json")
            #expect(request.request.httpMethod == "POST")
        }
    }

    @Test func `The content type of a JSON body can be another`() throws {
        let request = try request(
            #"{"url":"http://a.example/","headers":{"content-type":"application/problem+json"},"body":{}}"#)
        #expect(request.request.value(forHTTPHeaderField: "Content-Type") == "application/problem+json")
    }

    @Test(arguments: [
        "{", "{}", #"{"url":1}"#, #"{"url":null}"#, #"{"url":"ftp://a/"}"#, #"{"url":"http://a/","uri":"x"}"#,
        #"{"url":"http://a/","url":"http://b/"}"#, #"{"url":"http://a/","method":5}"#,
        #"{"url":"http://a/","method":"A B"}"#, #"{"url":"http://a/","method":""}"#,
        #"{"url":"http://a/","headers":[]}"#, #"{"url":"http://a/","headers":{"A":1}}"#,
        #"{"url":"http://a/","headers":{"A":"b\r\nC: d"}}"#, #"{"url":"http://a/","headers":{"A":[1]}}"#,
        #"{"url":"http://a/","headers":{"A B":"c"}}"#, #"{"url":"http://a/","body":5}"#,
        #"{"url":"http://a/","body":true}"#, #"{"url":"http://a/"} x"#,
    ])
    func `A JSON line that is not as it should be is refused`(_ text: String) {
        #expect(throws: UnusableInput.self) { try request(text) }
    }

    @Test func `A key whose value is null counts as absent`() throws {
        let request = try request(
            #"{"url":"http://a/","method":null,"headers":null,"body": null}"#, RequestTemplate(method: "PUT"))
        #expect(request.request.httpMethod == "PUT" && request.body.isNone)
        #expect(request.request.allHTTPHeaderFields?.isEmpty ?? true)
    }

    @Test func `A field whose value is null counts as absent`() throws {
        let template = RequestTemplate(fields: [try HeaderField(line: "X-A: 1")])
        let line = #"{"url":"http://a/","headers":{"X-A":null,"X-B":[null,"2"]}}"#
        let request = try request(line, template).request
        #expect(request.value(forHTTPHeaderField: "X-A") == "1" && request.value(forHTTPHeaderField: "X-B") == "2")
    }

    @Test(arguments: [
        (#"{"url" "http://a/"}"#, "malformed JSON: “:” is missing, at the character “\"”", 8),
        (#"{"url":"http://a/""#, "malformed JSON: “,” is missing, at the end of the line", 19),
        (#"{"url":"\x"}"#, "malformed JSON: an escape is not known, at the character “x”", 10),
        (#"{"url":"http://a|b/"}"#, "the character “|” cannot stand in the name of a host", 17),
        (#" {"é":1}"#, "the key “é” is not known", 3),
        (#"{"url":"http://a/","url":"b"}"#, "the key “url” stands twice", 20),
        (#"{"url":1}"#, "url is not a string", 8), (#"{"method": "A B"}"#, "the method “A B” is not a token", 12),
        (#"{"body":5}"#, "body is not a string, an object or an array", 9),
        (#"{"headers":[]}"#, "headers is not an object", 12),
        (#"{"headers":{"A B":"c"}}"#, "the character “ ” cannot stand in the name of a header field", 19),
        (#"{"headers":{"A":"b\r"}}"#, "the character U+000D cannot stand in the value of the header field A", 17),
    ])
    func `A fault of a JSON line is named with its column`(_ text: String, _ fault: String, _ column: Int) {
        #expect(throws: UnusableInput(fault, column: column)) { try request(text) }
    }

    @Test func `The column of a URL with escapes is its own`() {
        let fault = "the character “|” cannot stand in the name of a host (column 9 of the URL)"
        #expect(throws: UnusableInput(fault, column: 8)) { try request(#"{"url":"http:\/\/a|b/"}"#) }
    }

    @Test func `A key that would move the cursor is not printed as it stands`() {
        #expect(throws: UnusableInput("the key “?[2Jx” is not known", column: 20)) {
            try request(#"{"url":"http://a/","\#u{5C}u001b[2Jx":1}"#)
        }
    }

    // MARK: Options

    @Test func `A body in the options makes POST the default method`() throws {
        let template = RequestTemplate(body: .data(Data("x".utf8)))
        let request = try template.request(fromURL: "http://a.example/", id: 1)
        #expect(request.request.httpMethod == "POST")
        #expect(text(request.body) == "x")
    }

    @Test func `A method in the options is that of every request that names none`() throws {
        let template = RequestTemplate(method: "PUT", body: .data(Data()))
        #expect(try template.request(fromURL: "http://a.example/", id: 1).request.httpMethod == "PUT")
        #expect(try request(#"{"url":"http://a/","method":"DELETE"}"#, template).request.httpMethod == "DELETE")
    }

    @Test func `A field of a line takes the place of those of its name in the options`() throws {
        let template = RequestTemplate(fields: [
            try HeaderField(line: "X-A: 1"), try HeaderField(line: "x-a: 2"), try HeaderField(line: "X-B: 3"),
        ])
        let request = try request(#"{"url":"http://a/","headers":{"X-a":"own"}}"#, template).request
        #expect(request.value(forHTTPHeaderField: "X-A") == "own")
        #expect(request.value(forHTTPHeaderField: "X-B") == "3")
    }

    @Test func `A body of a line takes the place of that in the options`() throws {
        let template = RequestTemplate(body: .data(Data("x".utf8)))
        #expect(text(try request(#"{"url":"http://a/","body":"own"}"#, template).body) == "own")
        #expect(text(try request(#"{"url":"http://a/"}"#, template).body) == "x")
    }

    // MARK: Parts

    private func line(_ text: String) -> LineReader.Line {
        .bytes(Array(text.utf8)[...])
    }

    @discardableResult
    private func request(_ text: String, _ template: RequestTemplate = RequestTemplate()) throws -> InputRequest {
        try #require(try template.request(from: line(text), id: 1))
    }

    private func text(_ body: RequestBody) -> String? {
        if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { nil }
    }
}
