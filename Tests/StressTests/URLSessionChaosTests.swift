import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// Random faults and random cancels over one session: what used to kill the process on Linux.
@Suite(.timeLimit(.minutes(15)), .serialized)
struct URLSessionChaosTests {
    /// What the transfers ended with.
    private struct Tally: Equatable {
        var responses = 0
        var failures = 0
        var cancels = 0
        var total: Int { responses + failures + cancels }
    }

    private static let paths = [
        "/text", "/large", "/redirect", "/reset", "/close", "/401", "/503", "/truncated", "/slow", "/stall", "/empty",
    ]

    private func server() async throws -> LoopbackServer {
        let server = try await LoopbackServer.start()
        server.route("/text", .echo)
        server.route("/large", .large(byteCount: 200_000))
        server.route("/redirect", .redirect(to: "/text", status: 307))
        server.route("/reset", .reset)
        server.route("/close", .closeWithoutAnswer)
        server.route("/401", .status(401, fields: ["WWW-Authenticate": "Basic realm=\"a\""], body: Data("no".utf8)))
        server.route("/503", .status(503, body: Data(count: 10_000)))
        server.route("/truncated", .truncated(declared: 10_000, sending: 5000))
        server.route("/slow", .drip(Data(count: 50), chunk: 10, every: .milliseconds(2)))
        server.route("/stall", .stall)
        server.route("/empty", .empty())
        return server
    }

    @Test func `Thousands of mixed transfers, many of them cancelled, all end and kill nothing`() async throws {
        let server = try await server()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpMaximumConnectionsPerHost = 64
        let transport = URLSessionTransport(configuration: configuration)
        let count = Stress.rounds(50_000, shortened: 500)
        let tally = await withTaskGroup(of: Result<Void, any Error>.self) { group in
            var tally = Tally()
            for number in 0..<count {
                if number >= 48, let result = await group.next() { Self.note(result, in: &tally) }
                group.addTask { await Self.transfer(number, over: transport, server) }
            }
            for await result in group { Self.note(result, in: &tally) }
            return tally
        }
        #expect(tally.total == count)
        #expect(tally.cancels > 0)
        #expect(tally.failures > 0)
        #expect(tally.responses > 0)
    }

    /// One transfer, which is cancelled at a random time if it would not end by itself, and often if it would.
    private static func transfer(
        _ number: Int, over transport: URLSessionTransport, _ server: LoopbackServer
    ) async -> Result<Void, any Error> {
        let path = paths[number % paths.count]
        var request = URLRequest(url: server.url(path))
        let hasBody = Bool.random()
        if hasBody { request.httpMethod = "POST" }
        let body: RequestBody = hasBody ? .data(Data(count: Int.random(in: 0...3000))) : .none
        let isCancelled = path == "/stall" || Int.random(in: 0..<3) == 0
        let task = Task { [request] in
            _ = try await transport.perform(.upload(request, from: body)) { head in
                if head.status == 503 { throw CocoaError(.featureUnsupported) }
            }
        }
        if isCancelled {
            // A time is what makes the races here: the test claims nothing of it.
            try? await Task.sleep(for: .microseconds(Int.random(in: 0..<5000)))
            task.cancel()
        }
        return await task.result
    }

    @Test func `Files of which the upload is cancelled or refused midway kill nothing`() async throws {
        let server = try await LoopbackServer.start()
        let paths = ["/refused", "/reset", "/stall"]
        server.route("/refused", .withoutReadingBody(.closing(.status(413))))
        server.route("/reset", .withoutReadingBody(.reset))
        server.route("/stall", .withoutReadingBody(.stall))
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(count: 400_000).write(to: file)
        let transport = URLSessionTransport()
        let count = Stress.rounds(20_000, shortened: 300)
        let endCount = await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 16 { await group.next() }
                group.addTask {
                    let path = paths[number % paths.count]
                    var request = URLRequest(url: server.url(path))
                    request.httpMethod = "PUT"
                    var upload = TransportTask.upload(request, from: .file(file))
                    // Foundation forgets one in many thousands, which this ends.
                    upload.limits.idle = .seconds(10)
                    let task = Task { [upload] in try await transport.perform(upload) { _ in } }
                    if path == "/stall" {
                        // A time is what makes the races here: the test claims nothing of it.
                        try? await Task.sleep(for: .microseconds(Int.random(in: 0..<5000)))
                        task.cancel()
                    }
                    _ = await task.result
                }
            }
            return await group.reduce(into: min(max(count - 16, 0), count)) { count, _ in count += 1 }
        }
        #expect(endCount == count)
    }

    private static func note(_ result: Result<Void, any Error>, in tally: inout Tally) {
        switch result {
        case .success: tally.responses += 1
        case .failure(is CancellationError): tally.cancels += 1
        case .failure: tally.failures += 1
        }
    }
}
