import RequestOperations
import RequestOperationsTesting
import Testing

/// Programs whose code is on the main actor by default (SE-0466). The manifest compiles this target in that way.
@Suite(.timeLimit(.minutes(10))) struct MainActorTests {
    private let url = URL(string: "http://a.example/")!  // A literal that is a URL.
    private let transport = ScriptedTransport([.body(Data(#"{"name": "Ada"}"#.utf8))])

    private var configuration: RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        return configuration
    }

    private var sent: URLRequest? { transport.requests.first }

    @Test func `A nonisolated type is decoded`() async throws {
        let operation = URLRequestOperation(url, decoder: .json(User.self), configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == User(name: "Ada"))
    }

    @Test func `A nonisolated subclass overrides stages`() async throws {
        let operation = SignedOperation(
            URLRequest(url: url), decoder: .json(User.self), configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == User(name: "Ada (200)"))
        #expect(sent?.value(forHTTPHeaderField: "Signature") == "1")
    }

    @Test func `The properties of an endpoint go to their places`() async throws {
        let operation = SaveUser(id: 7, note: "new").operation(relativeTo: url, configuration: configuration)
        OperationQueue().addOperation(operation)
        #expect(try await operation.value == User(name: "Ada"))
        #expect(sent?.url?.absoluteString == "http://a.example/users/7?per_page=20")
        #expect(sent?.value(forHTTPHeaderField: "X-Tag") == "a" && sent?.httpMethod == "PUT")
        #expect(sent?.httpBody == Data("note=new".utf8))
    }

    @Test func `An adapter reads state of the main actor`() async throws {
        let session = Session()
        var configuration = configuration
        configuration.adapters = [.bearerToken { await session.token }, .field("Accept", "application/json")]
        let operation = URLRequestOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(sent?.value(forHTTPHeaderField: "Authorization") == "Bearer token")
    }

    @Test func `A lazy sequence of operations is asked on the main actor for the results of a queue`() async throws {
        let session = Session()
        let requests = (0..<3).lazy.map { _ in
            session.made += 1
            return URLRequestOperation(url, configuration: configuration)
        }
        var count = 0
        for try await result in OperationQueue().results(of: requests, atMost: 2) {
            _ = try result.get()
            count += 1
        }
        #expect(count == 3 && session.made == 3)
    }

    @Test func `A sequence of operations is asked on the main actor for a batch`() async throws {
        let (url, configuration) = (url, configuration)
        let requests = sequence(state: 0) { (number: inout Int) -> URLRequestOperation<Data>? in
            number += 1
            return number > 3 ? nil : URLRequestOperation(url, configuration: configuration)
        }
        let batch = RequestBatch(each: requests)
        RequestQueue().addOperation(batch)
        #expect(try await batch.value.count == 3)
    }

    @Test func `A completion comes back to the main actor`() async throws {
        let session = Session()
        let operation = URLRequestOperation(url, configuration: configuration)
        await withCheckedContinuation { continuation in
            operation.whenFinished { result in
                let isSuccess = (try? result.get()) != nil
                Task { @MainActor in
                    session.hasFinished = isSuccess
                    continuation.resume()
                }
            }
            OperationQueue().addOperation(operation)
        }
        #expect(session.hasFinished)
    }
}
