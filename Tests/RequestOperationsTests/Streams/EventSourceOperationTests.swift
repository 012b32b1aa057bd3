import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct EventSourceOperationTests {
    private let url = URL(string: "http://a.example/events")!
    private let over = PieceTransport.Answer(status: 204)

    /// What an event source came to.
    private struct Outcome {
        let data: [String]
        let error: (any Error)?
        let operation: EventSourceOperation
        /// The times before new attempts.
        let waits: [Duration]
    }

    /// Reads all events. Waits before new connections are skipped.
    private func read(
        _ transport: PieceTransport, method: String = "GET", lastEventID: String = "", reconnects: Bool = true,
        maximumEventSize: Int = 100, retries: Int = 3
    ) async -> Outcome {
        var request = URLRequest(url: url)
        request.httpMethod = method
        let operation = EventSourceOperation(
            request, lastEventID: lastEventID, reconnects: reconnects, maximumEventSize: maximumEventSize,
            configuration: .downloading(over: transport, retries: retries))
        let waits = Collector<Duration>()
        let steps = operation.events
        let skipping = Task {
            for await step in steps {
                guard case .waits(let time) = step.step else { continue }
                waits.append(time)
                operation.retryNow()
            }
        }
        OperationQueue().addOperation(operation)
        var data: [String] = []
        var error: (any Error)?
        do {
            for try await event in operation.serverSentEvents { data.append(event.data) }
        } catch let failure {
            error = failure
        }
        await skipping.value
        return Outcome(data: data, error: error, operation: operation, waits: waits.elements)
    }

    private func read(_ answers: PieceTransport.Answer..., retries: Int = 3) async -> Outcome {
        await read(PieceTransport(answers), retries: retries)
    }

    // MARK: Connections

    @Test func `A new connection follows the end of a response, and names the last event`() async {
        let transport = PieceTransport([.events("id: 1\ndata: a\n\n"), .events("id: 2\ndata: b\n\n"), over])
        let outcome = await read(transport)
        #expect(outcome.data == ["a", "b"] && outcome.error == nil)
        #expect(transport.values(of: "Last-Event-ID") == [nil, "1", "2"])
    }

    @Test func `A new connection follows a loss`() async {
        let transport = PieceTransport([.events("id: 1\ndata: a\n\nid: 2\ndata: b", end: .lost), over])
        let outcome = await read(transport)
        #expect(outcome.data == ["a"] && outcome.error == nil)
        // The second event was not complete.
        #expect(transport.values(of: "Last-Event-ID") == [nil, "1"])
    }

    @Test func `An event is put together from pieces, but not across connections`() async {
        let outcome = await read(.events("data: a", "b\n", "\ndata: c\n", end: .lost), .events("data: d\n\n"), over)
        #expect(outcome.data == ["ab", "d"])
    }

    @Test func `A known id is named at once, and an empty one of the server removes it`() async {
        let transport = PieceTransport([.events("id\ndata: a\n\n"), over])
        _ = await read(transport, lastEventID: "7")
        #expect(transport.values(of: "Last-Event-ID") == ["7", nil])
    }

    @Test func `The request says what it accepts`() async {
        let transport = PieceTransport([over])
        _ = await read(transport)
        #expect(transport.values(of: "Accept") == ["text/event-stream"])
        #expect(transport.values(of: "Cache-Control") == ["no-store"])
    }

    @Test func `Status 204 is a success`() async throws {
        let outcome = await read(over)
        #expect(outcome.error == nil && outcome.data.isEmpty)
        #expect(try await outcome.operation.value.status == 204)
    }

    // MARK: Errors

    @Test(arguments: ["text/html", "application/json", nil])
    func `Another type of content is final`(_ type: String?) async {
        let transport = PieceTransport([
            .init(fields: type.map { [("Content-Type", $0)] } ?? [], pieces: ["data: a\n\n"]), over,
        ])
        let outcome = await read(transport)
        #expect(RequestError.Code.unacceptableContentType ~= outcome.error! && outcome.data.isEmpty)
        #expect(transport.requests.count == 1)
    }

    @Test func `The type may have parameters`() async {
        let answer = PieceTransport.Answer(
            fields: [("Content-Type", "Text/Event-Stream; charset=UTF-8")], pieces: ["data: a\n\n"])
        #expect(await read(answer, over).data == ["a"])
    }

    @Test(arguments: [203, 404])
    func `Another status is final`(_ status: Int) async {
        let answer = PieceTransport.Answer(status: status, fields: [("Content-Type", "text/event-stream")])
        #expect(RequestError.Code.unacceptableStatus ~= (await read(answer, over)).error!)
    }

    @Test func `A status that the policy retries is retried`() async {
        #expect(await read(.init(status: 503), .events("data: a\n\n"), over).data == ["a"])
    }

    @Test func `Failures to connect end the operation after the retries of the policy`() async {
        let outcome = await read(.refused, .refused, .refused, over, retries: 2)
        #expect(RequestError.Code.cannotConnect ~= outcome.error!)
    }

    @Test func `A connection that worked resets the count of retries`() async {
        let outcome = await read(
            .refused, .refused, .events("data: a\n\n", end: .lost), .refused, .refused, .events(), .refused, .refused,
            .events("data: b\n\n"), over, retries: 2)
        #expect(outcome.data == ["a", "b"] && outcome.error == nil)
    }

    @Test func `An event that is too long is final, after those before it`() async {
        let tooLong = await read(
            PieceTransport([.events("data: a\n\ndata: 123456789\n\ndata: b\n\n"), over]), maximumEventSize: 8)
        #expect(tooLong.data == ["a"] && RequestError.Code.lineTooLong ~= tooLong.error!)
    }

    // MARK: Times

    @Test func `The time before a new connection is three seconds until the server gives one`() async {
        let outcome = await read(.events("data: a\n\n"), .events("retry: 750\ndata: b\n\n"), .events(end: .lost), over)
        #expect(outcome.waits == [.seconds(3), .milliseconds(750), .milliseconds(750)])
    }

    @Test func `The time that a server gives is bounded`() async {
        #expect(await read(.events("retry: 99999999\n"), over).waits == [.seconds(300)])
        #expect(await read(.events("retry: 0\n"), over).waits == [.milliseconds(500)])
    }

    @Test func `The elapsed limit of the policy does not apply`() async {
        var configuration = RequestConfiguration.streaming(.events("retry: 0\n"), over)
        configuration.retryPolicy.elapsedLimit = .zero
        let operation = EventSourceOperation(url, configuration: configuration)
        #expect(await failure(of: operation) == nil)
    }

    // MARK: Without a new connection

    @Test func `A request that may not be repeated is sent once`() async {
        for last in [PieceTransport.Answer.End.complete, .lost] {
            let transport = PieceTransport([.events("data: a\n\n", end: last), over])
            let outcome = await read(transport, method: "POST")
            #expect(outcome.data == ["a"] && transport.requests.count == 1)
            #expect((outcome.error == nil) == (last == .complete))
        }
    }

    @Test func `Without reconnection the end of the response is the end`() async {
        let transport = PieceTransport([.events("data: a\n\n"), over])
        let outcome = await read(transport, reconnects: false)
        #expect(outcome.data == ["a"] && outcome.error == nil && transport.requests.count == 1)
    }

    @Test func `Without reconnection a loss is final, but a failure to connect is retried`() async {
        let transport = PieceTransport([.refused, .events("data: a\n\n", end: .lost), over])
        let outcome = await read(transport, reconnects: false)
        #expect(outcome.data == ["a"] && RequestError.Code.connectionLost ~= outcome.error!)
        #expect(transport.requests.count == 2)
    }

    @Test func `A policy that never retries does not connect again`() async {
        let transport = PieceTransport([.events("data: a\n\n"), over])
        let outcome = await read(transport, retries: 0)
        #expect(outcome.error == nil && transport.requests.count == 1)
    }

    // MARK: The reader

    @Test func `The transfer waits for the reader`() async throws {
        let transport = PieceTransport([.events("data: a\n\n", "data: b\n\n", "data: c\n\n")])
        let operation = EventSourceOperation(url, configuration: .downloading(over: transport))
        OperationQueue().addOperation(operation)
        var events = operation.serverSentEvents.makeAsyncIterator()
        _ = try await events.next()
        #expect(transport.taken <= 1)
        _ = try await events.next()
        #expect(transport.taken <= 2)
    }

    @Test func `To drop the iterator cancels the operation`() async throws {
        let operation = EventSourceOperation(url, configuration: .streaming(.events("data: a\n\n", end: .stall)))
        OperationQueue().addOperation(operation)
        for try await event in operation.serverSentEvents {
            #expect(event == ServerSentEvent(data: "a"))
            break
        }
        await end(of: operation)
        #expect(operation.isCancelled)
    }

    @Test func `To drop the iterator between connections cancels the operation`() async throws {
        let operation = EventSourceOperation(url, configuration: .streaming(.events("data: a\n\n")))
        let steps = operation.events
        OperationQueue().addOperation(operation)
        do {
            var events = operation.serverSentEvents.makeAsyncIterator()
            _ = try await events.next()
            for await step in steps { if case .waits = step.step { break } }
        }
        await end(of: operation)
        #expect(operation.isCancelled)
    }

    @Test func `Events arrive over a real connection while it is open`() async throws {
        let server = try await LoopbackServer.start()
        let gate = LoopbackServer.Gate()
        let fields: LoopbackServer.Fields = ["Content-Type": "text/event-stream"]
        server.route(
            "/events",
            [
                .chunked([Data("retry: 1\nid: 1\ndata: a\n\n".utf8)], then: gate, [], fields: fields),
                .chunked([Data("id: 2\ndata: b\n\n".utf8)], fields: fields), .empty(204),
            ])
        let operation = EventSourceOperation(server.url("/events"), configuration: .downloading())
        OperationQueue().addOperation(operation)
        var data: [String] = []
        for try await event in operation.serverSentEvents {
            data.append(event.data)
            gate.open()
        }
        #expect(data == ["a", "b"])
        #expect(server.requests.map { $0.field("Last-Event-ID") } == [nil, "1", "2"])
    }
}
