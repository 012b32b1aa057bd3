#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Bodies from streams that declare to have no byte.
    @Suite(.timeLimit(.minutes(5)))
    struct EmptyStreamTests {
        private struct Broken: Error {}

        private static func task(
            _ url: URL, idle: Duration = .seconds(30), next: @escaping @Sendable () async throws -> Data?
        ) -> TransportTask {
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            var task = TransportTask.upload(
                request, from: .stream(BodyStream(length: 0) { BodyStream.Reader(next: next) }))
            task.limits.idle = idle
            return task
        }

        @Test func `A stream without a byte is sent as an empty body`() async throws {
            let server = try await LoopbackServer.start { .text("\($0.body.count)") }
            let pieces = Locked([Data(), Data()])
            let task = Self.task(server.url) { pieces.withLock { $0.popLast() } }
            let response = try await CurlTransport.with { _ in }.perform(task) { _ in }
            #expect(response.body == Data("0".utf8))
        }

        @Test func `A source that fails fails its request, which is not sent`() async throws {
            let server = try await LoopbackServer.start { _ in .text("sent") }
            let task = Self.task(server.url) { throw Broken() }
            let failure = try #require(await CurlTransport.with { _ in }.failure(of: task))
            #expect(failure.error is Broken && !failure.requestMayHaveBeenProcessed)
        }

        @Test func `A source that has a byte fails its request, which is not sent`() async throws {
            let server = try await LoopbackServer.start { _ in .text("sent") }
            let row = await CurlTransport.with { _ in }.row(Self.task(server.url) { Data([1]) })
            #expect(row == .unsent(.unencodableBody))
        }

        @Test func `A source that says nothing is idle`() async throws {
            let server = try await LoopbackServer.start { _ in .text("sent") }
            let task = Self.task(server.url, idle: .milliseconds(100)) {
                // Nobody moves the clock.
                try await ManualClock().sleep(for: .seconds(1))
                return nil
            }
            #expect(await CurlTransport.with { _ in }.row(task) == .unsent(.timedOut))
        }

        @Test func `A request is cancelled though its source says nothing`() async throws {
            let server = try await LoopbackServer.start { _ in .text("sent") }
            let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
            let request = Task {
                let task = Self.task(server.url) {
                    continuation.finish()
                    // As a source that takes no notice of a cancel.
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                    return nil
                }
                return try await CurlTransport.with { _ in }.perform(task) { _ in }
            }
            for await _ in begun {}
            request.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
        }
    }
#endif
