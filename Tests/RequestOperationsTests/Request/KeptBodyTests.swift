import RequestOperations
import RequestOperationsTesting
import Testing

/// What a finished operation keeps of a response's body.
@Suite(.timeLimit(.minutes(10))) struct KeptBodyTests {
    @Test func `An operation that succeeded keeps nothing of the body`() async throws {
        let transport = CountedBodyTransport()
        let operation = URLRequestOperation(anyRequest, decoder: .void, configuration: .over(transport))
        try await run(operation)
        #expect(await transport.isFreed.isOpen(within: .seconds(120)))
        withExtendedLifetime(operation) {}
    }

    @Test func `An operation whose decoder failed keeps no more than the beginning of the body`() async throws {
        let transport = CountedBodyTransport()
        let operation = URLRequestOperation(anyRequest, decoder: .failing, configuration: .over(transport))
        let error = await failure(of: operation) as? RequestError
        #expect(error?.bodyPrefix == Data(repeating: 7, count: 4096))
        #expect(await transport.isFreed.isOpen(within: .seconds(120)))
        withExtendedLifetime(operation) {}
    }

    @Test func `An error made with a whole body keeps no more than its beginning`() async {
        let isFreed = Door()
        let error = RequestError(.unknown, stage: .decode, bodyPrefix: .counted(isFreed))
        #expect(await isFreed.isOpen(within: .seconds(120)))
        #expect(error.bodyPrefix == Data(repeating: 7, count: 4096))
    }

    @Test func `An operation that is cancelled while it decodes keeps nothing of the body`() async throws {
        let transport = CountedBodyTransport()
        let decodes = Door()
        let decoder = ResponseDecoder<Void> { _ in
            decodes.open()
            // A clock that nobody moves.
            try await ManualClock().sleep(for: .seconds(1))
        }
        let operation = URLRequestOperation(anyRequest, decoder: decoder, configuration: .over(transport))
        OperationQueue().addOperation(operation)
        await decodes.pass()
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(await transport.isFreed.isOpen(within: .seconds(120)))
        withExtendedLifetime(operation) {}
    }
}

/// Answers with a body of a megabyte and keeps no reference to it.
private struct CountedBodyTransport: Transport {
    /// Opens when nobody has the body any more.
    let isFreed = Door()

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        // The request has a URL.
        let head = ResponseHead(status: 200, url: anyRequest.url!)
        try onHead(head)
        return TransportResponse(head: head, body: .counted(isFreed))
    }
}

extension ResponseDecoder where Value == Void {
    fileprivate static let failing = ResponseDecoder { _ in throw Problem() }
}

extension Data {
    /// A megabyte of sevens that opens a door when it is freed.
    static func counted(_ isFreed: Door) -> Data {
        let count = 1 << 20
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 1)
        bytes.initializeMemory(as: UInt8.self, repeating: 7, count: count)
        return Data(
            bytesNoCopy: bytes, count: count,
            deallocator: .custom { bytes, _ in
                bytes.deallocate()
                isFreed.open()
            })
    }
}
