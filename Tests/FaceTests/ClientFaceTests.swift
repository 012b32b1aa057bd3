import RequestOperations
import RequestOperationsTesting
import Testing

/// Clients, hooks and observers, as a program of another module uses them. Each test is the counterpart of examples in the
/// texts of STNetTaskQueue and XMNetworking, and does what those say.
@Suite(.timeLimit(.minutes(15))) struct ClientFaceTests {
    struct Weather: Decodable, Sendable { let name: String }

    struct OpenWeather: Endpoint {
        typealias Response = Weather
        let path = "data/2.5/weather"
        let fields = ["custom_header": "value"]
        let parameters: [String: ParameterValue] = ["other_parameter": "value"]
        var naming: ParameterNaming { .snakeCase }
        var lat: String
        var userInfo: String
        @Ignored var note = ""

        func configure(_ configuration: inout RequestConfiguration) {
            configuration.retryPolicy.maximumRetries = 1
            configuration.retryPolicy.backoff = .constant(.zero, jitter: .none)
        }
    }

    struct BusinessError: Error {}

    final class View: RequestObserver {
        let places = Collector<String>()

        func submission(_ submission: Submission, didEndWith error: (any Error)?) {
            let operation = submission.operation as? URLRequestOperation<Weather>
            places.append(error == nil ? (try? operation?.result?.get().name) ?? "" : "failed")
        }
    }

    private func client(_ answers: ScriptedTransport.Answer...) -> (RequestClient, ScriptedTransport) {
        let transport = ScriptedTransport(answers)
        var configuration = RequestConfiguration()
        configuration.transport = transport
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.budget = nil
        return (RequestClient(baseURL: URL(string: "http://example.invalid"), configuration: configuration), transport)
    }

    private func weather(_ name: String) -> ScriptedTransport.Answer {
        .body(Data(#"{"name":"\#(name)"}"#.utf8))
    }

    // MARK: STNetTaskQueue

    @Test func `A task is packed, sent and observed`() async throws {
        let (client, transport) = client(.status(503), weather("Singapore"))
        let view = View()
        let task = client.operation(for: OpenWeather(lat: "1.3", userInfo: "x"))
        client.addObserver(view, path: "data/2.5/weather")
        client.addObserver(view, endpoint: OpenWeather.self)
        let states = Collector<ObservedState>()
        for state in [ObservedState.finished, .retrying, .cancelled] {
            task.subscribe(to: state) { states.append(state) }
        }
        client.submit(task)
        let steps = task.events
        #expect(try await task.value.name == "Singapore")
        for await _ in steps {}
        await states.count(2)
        #expect(states.elements == [.retrying, .finished] && view.places.elements == ["Singapore"])
        let query = transport.requests[1].url?.query ?? ""
        #expect(query.split(separator: "&").sorted() == ["lat=1.3", "other_parameter=value", "user_info=x"])
        #expect(transport.requests[1].value(forHTTPHeaderField: "custom_header") == "value")
    }

    @Test func `Three tasks run two at a time`() async throws {
        let door = Door()
        let (client, transport) = client(
            .dynamic { _ in
                await door.pass()
                return .body(Data())
            })
        client.queue.maxConcurrentOperationCount = 2
        let tasks = ["1", "2", "3"].map { client.operation(.get, $0, as: Data.self) }
        for task in tasks { client.submit(task) }
        await transport.requests(atLeast: 2)
        #expect(transport.requests.count == 2)
        door.open()
        for task in tasks { _ = try await task.value }
        #expect(transport.requests.count == 3)
    }

    @Test func `A group tells its first error`() async throws {
        let (client, transport) = client(weather("a"), .status(404), weather("c"))
        let group = (1...3).map { client.operation(.get, "\($0)", as: Weather.self) }.serialGroup()
        let errors = Collector<RequestError.Code?>()
        client.submit(group) { result in
            if case .failure(let error) = result { errors.append((error as? RequestError)?.code) }
        }
        await errors.count(1)
        #expect(errors.elements == [.unacceptableStatus] && transport.requests.count == 2)
    }

    @Test func `A task is cancelled after it was added`() async throws {
        let (client, transport) = client(.stall)
        let task = client.operation(.get, "a", as: Data.self)
        let told = Collector<Void>()
        task.subscribe(to: .cancelled) { told.append(()) }
        client.submit(task)
        await transport.requests(atLeast: 1)
        task.cancel()
        await told.count(1)
    }

    // MARK: XMNetworking

    @Test func `General values are configured and changed`() async throws {
        let (center, transport) = client(weather("a"))
        center.defaults.fields = ["general-header": "general header value"]
        center.defaults.parameters = ["general-parameter": "value"]
        center.defaults.userInfo = ["screen": "start"]
        center.callbackQueue = DispatchQueue(label: "callbacks")
        center.isConsoleLogEnabled = false
        _ = try await center.get("a", as: Weather.self)
        center.setField("new value", for: "general-header")
        center.setParameter(nil, for: "general-parameter")
        _ = try await center.post("a", parameters: ["param1": "value1"], as: Weather.self)
        #expect(
            transport.requests.map { $0.value(forHTTPHeaderField: "general-header") ?? "" } == [
                "general header value", "new value",
            ])
        #expect(transport.requests[0].url?.query == "general-parameter=value")
        #expect(transport.requests[1].httpBody == Data("param1=value1".utf8))
    }

    @Test func `The three process blocks have their counterparts`() async throws {
        let (center, transport) = client(.body(Data(#"{"name":"x","code":7}"#.utf8)))
        let errors = Collector<String>()
        center.hooks = [
            .request { request, _ in request.setValue("1", forHTTPHeaderField: "Version") },
            .response { response, _ in
                if String(decoding: response.body, as: UTF8.self).contains(#""code":7"#) { throw BusinessError() }
                return response
            },
            .error { error, submission in
                errors.append(submission.path ?? "")
                return (error as? RequestError)?.underlying ?? error
            },
        ]
        await #expect(throws: BusinessError.self) { try await center.get("alone", as: Weather.self) }
        let results = Collector<Int>()
        center.batch([center.operation(.get, "member", as: Weather.self)]) { results.append($0.count) }
        await results.count(1)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "Version") } == ["1", nil])
        #expect(errors.elements == ["alone", "member"])
    }

    @Test func `A batch has its results in order and a chain goes on with each response`() async throws {
        let (center, transport) = client(weather("a"), .status(404), weather("b"), weather("c"))
        let done = Collector<[String]>()
        center.batch(
            ["1", "2"].map { center.operation(.get, $0, as: Weather.self) }, policy: .collectAll, maximumConcurrency: 1
        ) { results in done.append(results.map { (try? $0.get().name) ?? "failed" }) }
        await done.count(1)
        let chain = center.operation(.get, "3", as: Weather.self).then { weather in
            center.operation(.get, "4", parameters: ["after": ParameterValue(weather.name)], as: Weather.self)
        }
        center.chain(chain) { done.append([(try? $0.get().name) ?? "failed"]) }
        await done.count(2)
        #expect(done.elements == [["a", "failed"], ["c"]] && transport.requests[3].url?.query == "after=b")
    }

    @Test func `A request is cancelled by its identifier`() async throws {
        let (center, transport) = client(.stall)
        let id: RequestID = center.submit(
            center.operation(.get, "foo/bar", as: Data.self) { options in
                options.configuration.retryPolicy.maximumRetries = 1
                options.tag = "start"
            })
        await transport.requests(atLeast: 1)
        let cancelled: Submission? = center.cancel(id)
        #expect(cancelled?.path == "foo/bar" && cancelled?.tag == "start" && center.cancel(id) == nil)
        let counts: RequestClient.ShutdownCounts = await center.shutdown(draining: .seconds(5))
        // It may have ended before the client was shut down.
        #expect(counts.finished == 0 && counts.cancelled <= 1)
    }
}
