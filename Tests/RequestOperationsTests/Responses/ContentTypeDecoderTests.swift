import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct ContentTypeDecoderTests {
    private func response(_ body: String, _ type: String?) throws -> TransportResponse {
        let fields = type.map { [(name: "Content-Type", value: $0)] } ?? []
        let head = ResponseHead(status: 200, url: try #require(URL(string: "http://a.example")), fields: fields)
        return TransportResponse(head: head, body: Data(body.utf8))
    }

    private func decode<Value>(
        _ decoder: ResponseDecoder<Value>, _ body: String, _ type: String?
    ) async throws -> Value {
        try await decoder.decode(try response(body, type))
    }

    @Test(arguments: [
        (#"{"a": "b"}"#, "application/json"), (#"{"a": "b"}"#, "application/vnd.x+json; charset=utf-8"),
        ("a=b", "application/x-www-form-urlencoded"),
        ("<plist version=\"1.0\"><dict><key>a</key><string>b</string></dict></plist>", "application/x-plist"),
    ])
    func `A value is decoded as its type says`(_ body: String, _ type: String) async throws {
        #expect(try await decode(.byContentType([String: String].self), body, type) == ["a": "b"])
    }

    @Test(arguments: ["text/html", "image/png", "nonsense", nil])
    func `Another type is an error`(_ type: String?) async throws {
        await #expect { try await decode(.byContentType([String: String].self), "x", type) } throws: {
            ($0 as? RequestError)?.code == .unacceptableContentType
        }
    }

    @Test func `The most precise range counts`() async throws {
        func constant(_ text: String) -> ResponseDecoder<String> { ResponseDecoder { _ in text } }
        let decoder = ResponseDecoder<String>.byContentType([
            "*/*": constant("any"), "text/*": constant("text"), "text/plain": constant("plain"),
            "text/*+x": constant("suffix"),
        ])
        #expect(try await decode(decoder, "", "text/plain; charset=utf-8") == "plain")
        #expect(try await decode(decoder, "", "text/a+x") == "suffix")
        #expect(try await decode(decoder, "", "text/html") == "text")
        #expect(try await decode(decoder, "", "image/png") == "any")
    }

    @Test func `What is for all others takes any type`() async throws {
        let decoder = ResponseDecoder<String>.byContentType([:], otherwise: .string)
        #expect(try await decode(decoder, "x", nil) == "x")
    }

    @Test func `An empty body without a type is an empty value`() async throws {
        #expect(try await decode(.byContentType([String: String]?.self), "", nil) == nil)
    }

    @Test func `A form is decoded`() async throws {
        #expect(try await decode(.form([String: Int].self), "a=1", nil) == ["a": 1])
        #expect(try await decode(.form([String: Int].self), "", nil) == [:])
    }
}
