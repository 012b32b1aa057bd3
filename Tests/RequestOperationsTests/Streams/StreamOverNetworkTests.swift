import RequestOperations
import RequestOperationsTesting
import Testing

/// Streams over real connections.
@Suite(.timeLimit(.minutes(15))) struct StreamOverNetworkTests {
    private func started(
        _ response: LoopbackServer.Response, over transport: (any Transport)? = nil
    ) async throws -> (LoopbackServer, StreamOperation) {
        let server = try await LoopbackServer.start()
        server.route("/stream", response)
        let operation = StreamOperation(server.url("/stream"), configuration: .downloading(over: transport))
        OperationQueue().addOperation(operation)
        return (server, operation)
    }

    @Test func `A line arrives while the response goes on`() async throws {
        let gate = LoopbackServer.Gate()
        let (server, operation) = try await started(
            .chunked([Data("one\n".utf8)], then: gate, [Data("two\n".utf8)]))
        var lines = operation.lines.makeAsyncIterator()
        #expect(try await lines.next() == "one")
        gate.open()
        #expect(try await lines.next() == "two")
        #expect(try await lines.next() == nil)
        withExtendedLifetime(server) {}
    }

    @Test func `A large body arrives whole through a slow reader`() async throws {
        let (server, operation) = try await started(.large(byteCount: 3_000_000))
        var offset = 0
        for try await piece in operation.bytes {
            #expect(piece.first == UInt8(offset % 251))
            offset += piece.count
            await Task.yield()
        }
        #expect(offset == 3_000_000)
        withExtendedLifetime(server) {}
    }

    @Test func `An endless body ends when the reader has enough`() async throws {
        let (server, operation) = try await started(.endless(chunk: Data("line\n".utf8)))
        var count = 0
        for try await _ in operation.lines {
            count += 1
            if count == 1000 { break }
        }
        await end(of: operation)
        #expect(operation.isCancelled)
        withExtendedLifetime(server) {}
    }

    @Test func `A stream over a URLSession arrives as well`() async throws {
        let (server, operation) = try await started(
            .chunked([Data("one\ntw".utf8), Data("o\n".utf8)]), over: URLSessionTransport())
        var lines: [String] = []
        for try await line in operation.lines { lines.append(line) }
        #expect(lines == ["one", "two"])
        withExtendedLifetime(server) {}
    }
}
