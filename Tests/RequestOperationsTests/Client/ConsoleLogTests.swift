import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct ConsoleLogTests {
    private let lines = Collector<String>()

    /// Sends a request with a secret everywhere.
    private func send(_ answers: [ScriptedTransport.Answer], bodies: Int = 0) async {
        let client = RequestClient(over: ScriptedTransport(answers))
        client.isConsoleLogEnabled = true
        client.loggedBodySize = bodies
        client.logWriter = { [lines] in lines.append($0) }
        _ = try? await client.post(
            "a?token=s3cret", parameters: ["password": "s3cret", "name": "Ada"], decoder: .data
        ) {
            $0.fields["Authorization"] = "s3cret"
            $0.configuration.retryPolicy.idempotentMethods = ["POST"]
        }
    }

    private let answer = ScriptedTransport.Answer.body(
        Data(#"{"token":"s3cret","name":"Ada"}"#.utf8), fields: [("Content-Type", "application/json")])

    @Test func `Each request, attempt, response, wait and end is a line without secrets`() async {
        await send([.status(503), answer])
        let texts = lines.elements.map { $0.drop { $0 != ":" }.dropFirst(2) }
        #expect(texts.count == 7 && !lines.elements.joined().contains("s3cret"))
        #expect(texts[0] == "POST http://example.invalid/v1/a")
        #expect(texts[1] == "attempt 1: POST http://example.invalid/v1/a, 24 bytes")
        #expect(texts[2].hasPrefix("failed: ") && texts[3].hasPrefix("waits"))
        #expect(texts[4] == "attempt 2: POST http://example.invalid/v1/a, 24 bytes")
        #expect(texts[5] == "response: 200 (1 fields), 31 bytes" && texts[6] == "ended: success")
    }

    @Test func `Bodies are written up to a size and without secrets`() async {
        await send([answer], bodies: 1000)
        #expect(lines.elements[0].hasSuffix("\nname=Ada&password=redacted"))
        #expect(lines.elements[2].hasSuffix("\n" + #"{"name":"Ada","token":"redacted"}"#))
        await send([answer], bodies: 7)
        #expect(lines.elements[6].hasSuffix("\n{\"name\"…"))
    }

    @Test func `A body of another type is written as its size`() async {
        await send([.body(Data("s3cret".utf8))], bodies: 1000)
        #expect(lines.elements[2].hasSuffix("\n(6 bytes)"))
    }

    @Test func `Nothing is written by default`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        client.logWriter = { [lines] in lines.append($0) }
        _ = try await client.get("a", as: User.self)
        #expect(lines.count == 0 && !client.isConsoleLogEnabled)
    }
}
