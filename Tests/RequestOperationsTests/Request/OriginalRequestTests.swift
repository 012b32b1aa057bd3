import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct OriginalRequestTests {
    private static let adapters: [RequestAdapter] = [
        .field("Accept", "text/plain"), .defaultField("X-Kept", "adapted"),
    ]

    private static func request(_ fields: [String: String]?) -> URLRequest {
        var request = URLRequest(url: URL(string: "http://a.example/")!)
        request.allHTTPHeaderFields = fields
        return request
    }

    @Test func `A hedge has the fields too`() async throws {
        var (hedged, transport) = HedgedRequest.answered(by: [.behind(Door(), .body(Data())), .body(Data())])
        hedged.configuration.adapters = Self.adapters
        let operation = hedged.operation(Self.request(["X-Kept": "own"]))
        await hedged.start(operation)
        _ = try await operation.value
        #expect(
            transport.requests.map(\.allHTTPHeaderFields)
                == Array(repeating: ["Accept": "text/plain", "X-Kept": "own"], count: 2))
        #expect(operation.request.allHTTPHeaderFields == ["X-Kept": "own"])
    }

    @Test func `An operation tells the request without the fields of its adapters`() async throws {
        let transport = ScriptedTransport([.status(503), .body(Data())])
        var configuration = RequestConfiguration.default
        configuration.transport = transport
        configuration.adapters = Self.adapters
        configuration.retryPolicy = RetryPolicy(backoff: .constant(.zero))
        let request = Self.request(["X-Kept": "own"])
        let operation = URLRequestOperation(request, configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(operation.request.allHTTPHeaderFields == request.allHTTPHeaderFields)
        #expect(
            transport.requests.map(\.allHTTPHeaderFields)
                == Array(repeating: ["Accept": "text/plain", "X-Kept": "own"], count: 2))
    }

    @Test func `The request of a decision gets the fields of the adapters too`() async throws {
        let transport = ScriptedTransport([.status(401), .body(Data())])
        var configuration = RequestConfiguration.default
        configuration.transport = transport
        configuration.adapters = Self.adapters
        let other = Self.request(["X-Kept": "other"])
        configuration.retryDeciders = [
            RetryDecider { _, _ in .retry(after: .zero, with: other) }
        ]
        let operation = URLRequestOperation(Self.request(nil), configuration: configuration)
        OperationQueue().addOperation(operation)
        _ = try await operation.value
        #expect(operation.request.allHTTPHeaderFields == other.allHTTPHeaderFields)
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "X-Kept") } == ["adapted", "other"])
    }
}
