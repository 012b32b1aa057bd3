import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite struct IdempotencyKeyTests {
    private func keys(
        _ method: String, attempts: Int = 1, adapters: [RequestAdapter] = [.idempotencyKey()], own: String? = nil
    ) async throws -> [String?] {
        let failures = Array(repeating: ScriptedTransport.Answer.status(503), count: attempts - 1)
        let transport = ScriptedTransport(failures + [.body(Data())])
        var configuration = RequestConfiguration.over(transport)
        configuration.adapters = adapters
        configuration.retryPolicy.backoff = .constant(.zero)
        var request = anyRequest
        request.httpMethod = method
        request.setValue(own, forHTTPHeaderField: "Idempotency-Key")
        _ = try await run(URLRequestOperation(request, configuration: configuration))
        return transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }
    }

    @Test(arguments: ["POST", "PATCH", "post"])
    func itIsTheSameOverAllAttemptsOfOneRequestWhichAreMade(_ method: String) async throws {
        let keys = try await keys(method, attempts: 4)
        #expect(keys.count == 4 && keys[0] != nil && Set(keys).count == 1)
    }

    @Test func itIsAnotherForEachRequest() async throws {
        var all: [String?] = []
        for _ in 1...20 { all += try await keys("POST") }
        #expect(Set(all).count == 20)
    }

    @Test func itIsAStringOfStructuredFields() async throws {
        let key = try #require(try await keys("POST")[0])
        let text = key.dropFirst().dropLast()
        #expect(key.first == "\"" && key.last == "\"" && text.count > 36)
        #expect(text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    }

    @Test func aRequestThatHasOneKeepsIt() async throws {
        #expect(try await keys("POST", own: "mine") == ["mine"])
    }

    @Test(arguments: ["GET", "PUT", "DELETE"])
    func whatIsIdempotentAnywayGetsNone(_ method: String) async throws {
        #expect(try await keys(method) == [nil])
    }

    @Test func onAQueueToo() async throws {
        let keys = try await keys("POST", attempts: 2, adapters: [.idempotencyKey().on(OperationQueue())])
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1])
    }
}
