import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ResponseHeadTests {
    private static let url = URL(string: "https://a.example/?secret")!  // A literal that is a URL.
    private static let fields = [("Content-Type", "text/plain"), ("X-A", "1"), ("x-a", "2"), ("X-Empty", "")]

    /// The same fields as a list and as bytes.
    private static let heads = [
        ResponseHead(status: 200, url: url, fields: fields.map { (name: $0.0, value: $0.1) }, version: .http1_1),
        ResponseHead(
            status: 200, url: url, block: HeaderBlock(Array(fields.map { "\($0.0): \($0.1)\r\n" }.joined().utf8)),
            version: .http1_1),
    ]

    @Test(arguments: heads)
    func `A field is found in any case and several are joined`(head: ResponseHead) {
        #expect(head.field("content-TYPE") == "text/plain")
        #expect(head.field("X-A") == "1, 2")
        #expect(head.field("X-Empty") == "")
        #expect(head.field("X") == nil && head.field("") == nil)
    }

    @Test(arguments: heads)
    func `All fields stand in their order`(head: ResponseHead) {
        #expect(head.fields.map(\.name) == Self.fields.map(\.0))
        #expect(head.fields.map(\.value) == Self.fields.map(\.1))
    }

    @Test(arguments: heads)
    func `Foundation's response has the same status URL and fields`(head: ResponseHead) throws {
        let response = try #require(head.httpURLResponse)
        #expect(response.statusCode == 200 && response.url == Self.url)
        #expect(response.value(forHTTPHeaderField: "content-type") == "text/plain")
    }

    @Test(arguments: heads)
    func `Foundation's response joins fields whose names differ in case`(head: ResponseHead) throws {
        let response = try #require(head.httpURLResponse)
        #expect(response.value(forHTTPHeaderField: "x-a") == "1, 2")
        #expect(response.allHeaderFields.count == 3)
    }

    @Test func `What is not HTTP has no response of Foundation's`() {
        let head = ResponseHead(status: 0, url: Self.url)
        #expect(!head.isHTTP && head.httpURLResponse == nil)
    }

    @Test(arguments: heads)
    func `The description shows no value`(head: ResponseHead) {
        #expect(head.description == "200 (4 fields)")
    }

    @Test(arguments: [
        (HTTPVersion.http1_0, "HTTP/1.0"), (.http1_1, "HTTP/1.1"), (.http2, "HTTP/2"), (.http3, "HTTP/3"),
    ])
    func `A version is named as in a status line`(version: HTTPVersion, name: String) {
        #expect(version.description == name)
    }
}
