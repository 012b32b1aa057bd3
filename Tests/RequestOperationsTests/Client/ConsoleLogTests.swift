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

    @Test func `Each attempt and each wait is a line with its time and without secrets`() async throws {
        await send([.status(503), answer])
        await lines.count(3)
        #expect(lines.count == 3 && !lines.elements.joined().contains("s3cret"))
        let line = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ request \d+, POST http:\/\/example\.invalid\/v1\/a: (.*)/
        let texts = try lines.elements.map { try #require(try line.wholeMatch(in: $0)).1 }
        #expect(texts[0].hasPrefix("attempt 1, status 503, failed after ") && texts[0].contains("unacceptableStatus"))
        #expect(texts[1].hasPrefix("waits ") && texts[1].hasSuffix(" (backoff)"))
        #expect(texts[2].hasPrefix("attempt 2, waited ") && texts[2].contains("status 200, 31 bytes, succeeded after "))
    }

    @Test func `The end of a request that fails is a line`() async {
        await send([.status(404)])
        await lines.count(2)
        #expect(lines.elements[0].contains(": attempt 1, status 404") && lines.elements[1].contains(": ended: "))
    }

    @Test func `Bodies are written up to a size and without secrets`() async {
        await send([answer], bodies: 1000)
        await lines.count(3)
        #expect(lines.elements[0].hasSuffix(", request:\nname=Ada&password=redacted"))
        #expect(lines.elements[1].hasSuffix(", response:\n" + #"{"name":"Ada","token":"redacted"}"#))
        await send([answer], bodies: 7)
        await lines.count(6)
        #expect(lines.elements[4].hasSuffix("\n{\"name\"…"))
    }

    @Test func `A body of another type is written as its size`() async {
        await send([.body(Data("s3cret".utf8))], bodies: 1000)
        await lines.count(3)
        #expect(lines.elements[1].hasSuffix("\n(6 bytes)"))
    }

    @Test func `Nothing is written by default`() async throws {
        let client = RequestClient(over: ScriptedTransport([.user]))
        client.logWriter = { [lines] in lines.append($0) }
        _ = try await client.get("a", as: User.self)
        #expect(lines.count == 0 && !client.isConsoleLogEnabled)
    }
}
