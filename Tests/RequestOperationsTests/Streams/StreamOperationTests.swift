import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct StreamOperationTests {
    private let url = URL(string: "http://a.example/stream?secret=1")!

    /// An operation in a queue.
    private func started(over transport: PieceTransport, retries: Int = 3) -> StreamOperation {
        let operation = StreamOperation(url, configuration: .downloading(over: transport, retries: retries))
        OperationQueue().addOperation(operation)
        return operation
    }

    private func started(_ answers: PieceTransport.Answer...) -> StreamOperation {
        started(over: PieceTransport(answers))
    }

    /// All elements, and the error after them.
    private func all<Elements: AsyncSequence>(_ elements: Elements) async -> ([Elements.Element], (any Error)?) {
        var read: [Elements.Element] = []
        do {
            for try await element in elements { read.append(element) }
            return (read, nil)
        } catch {
            return (read, error)
        }
    }

    // MARK: Bytes

    @Test func `The pieces arrive in order, and the value is the head`() async throws {
        let operation = started(.init(fields: [("X", "1")], pieces: ["one", "two", "three"]))
        let (pieces, error) = await all(operation.bytes)
        #expect(pieces.map { String(decoding: $0, as: UTF8.self) } == ["one", "two", "three"] && error == nil)
        #expect(try await operation.value.field("X") == "1")
    }

    @Test func `The operation has its result when the reader hears of the end`() async {
        let operation = started(.init(pieces: ["one"]))
        _ = await all(operation.bytes)
        #expect(operation.isFinished)
    }

    @Test func `The transfer waits for the reader`() async throws {
        let transport = PieceTransport([.init(pieces: ["1", "2", "3"])])
        var pieces = started(over: transport).bytes.makeAsyncIterator()
        #expect(transport.taken == 0)
        _ = try await pieces.next()
        #expect(transport.taken <= 1)
        _ = try await pieces.next()
        #expect((1...2).contains(transport.taken))
    }

    @Test func `An empty body has no pieces`() async {
        let (pieces, error) = await all(started(.init()).bytes)
        #expect(pieces.isEmpty && error == nil)
    }

    @Test func `A rejected status is the error of the reader`() async {
        let (pieces, error) = await all(started(.init(status: 404, pieces: ["page"])).bytes)
        #expect(pieces.isEmpty && RequestError.Code.unacceptableStatus ~= error!)
    }

    @Test func `An operation that has failed tells a later reader`() async {
        let operation = started(.init(status: 404))
        await end(of: operation)
        let (_, error) = await all(operation.bytes)
        #expect(RequestError.Code.unacceptableStatus ~= error!)
    }

    @Test func `The description has no query`() {
        let operation = StreamOperation(url)
        #expect("\(operation.bytes)" == "bytes of GET http://a.example/stream")
        #expect("\(operation.lines)" == "lines of GET http://a.example/stream")
    }

    // MARK: Retries

    @Test func `A failure before the first byte is retried`() async {
        let operation = started(.refused, .init(end: .lost), .init(status: 503), .init(pieces: ["one"]))
        let (pieces, error) = await all(operation.bytes)
        #expect(pieces == [Data("one".utf8)] && error == nil)
        #expect(operation.attempts.count == 4)
    }

    @Test func `A failure after the first byte is final`() async {
        let transport = PieceTransport([.init(pieces: ["one"], end: .lost), .init(pieces: ["one"])])
        let (pieces, error) = await all(started(over: transport).bytes)
        #expect(pieces.count == 1 && RequestError.Code.connectionLost ~= error!)
        #expect(transport.requests.count == 1)
    }

    @Test func `A subclass that retries after the first byte fails for good`() async {
        final class Stubborn: StreamOperation, @unchecked Sendable {
            override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
                failure.attempt == 1 ? .retry(after: .zero) : await super.retryDecision(after: failure)
            }
        }
        let operation = Stubborn(
            url, configuration: .streaming(.init(pieces: ["one"], end: .lost), .init(pieces: ["one"])))
        OperationQueue().addOperation(operation)
        let (pieces, error) = await all(operation.bytes)
        #expect(pieces.count == 1 && RequestError.Code.unsupported ~= error!)
    }

    // MARK: The end

    @Test func `To drop the iterator cancels the operation`() async throws {
        let operation = started(.init(pieces: ["1", "2"], end: .stall))
        for try await _ in operation.bytes { break }
        await end(of: operation)
        #expect(operation.isCancelled)
    }

    @Test func `To drop the iterator after the end changes nothing`() async throws {
        let operation = started(.init(pieces: ["1"]))
        _ = await all(operation.bytes)
        #expect(!operation.isCancelled)
    }

    @Test func `A cancel of the reading Task cancels the operation`() async {
        let operation = started(.init(pieces: ["1"], end: .stall))
        let hasBegun = Door()
        let reader = Task {
            for try await _ in operation.bytes { hasBegun.open() }
        }
        await hasBegun.pass()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        await end(of: operation)
        #expect(operation.isCancelled)
    }

    @Test func `A Task that is cancelled before it reads hears of it`() async {
        let operation = started(.init(pieces: ["1"]))
        let mayRead = Door()
        let reader = Task {
            await mayRead.pass()
            for try await _ in operation.bytes {}
        }
        reader.cancel()
        mayRead.open()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test func `A cancel of the operation ends the reader`() async throws {
        let operation = started(.init(pieces: ["1"], end: .stall))
        var pieces = operation.bytes.makeAsyncIterator()
        _ = try await pieces.next()
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await pieces.next() }
        #expect(try await pieces.next() == nil)
    }

    @Test func `An operation that nobody reads ends on cancel`() async {
        let transport = PieceTransport([.init(pieces: ["1", "2"])])
        let operation = started(over: transport)
        await eventually { !transport.requests.isEmpty }
        operation.cancel()
        await end(of: operation)
        #expect(operation.isCancelled && transport.taken == 0)
    }

    @Test func `An operation that is cancelled and never started ends the reader`() async {
        let operation = StreamOperation(url, configuration: .streaming())
        operation.cancel()
        let (_, error) = await all(operation.bytes)
        #expect(error is CancellationError)
    }

    @Test func `The operation goes on for its reader when another Task leaves`() async throws {
        let operation = started(.init(pieces: ["1", "2"]))
        var pieces = operation.bytes.makeAsyncIterator()
        _ = try await pieces.next()
        let other = Task { try await operation.value }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        #expect(try await pieces.next() == Data("2".utf8))
        #expect(try await pieces.next() == nil)
    }

    @Test func `A deadline ends an operation that nobody reads`() async {
        let clock = ManualClock()
        var configuration = RequestConfiguration.streaming(.init(pieces: ["1"]))
        configuration.clock = clock
        configuration.deadline = .seconds(5)
        let operation = StreamOperation(url, configuration: configuration)
        OperationQueue().addOperation(operation)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await requestError(of: operation)?.code == .timedOut)
    }

    // MARK: Lines

    @Test func `Lines are put together from pieces`() async {
        let (lines, error) = await all(started(.init(pieces: ["a", "b\r", "\nc\n\nd"])).lines)
        #expect(lines == ["ab", "c", "", "d"] && error == nil)
    }

    @Test func `The lines before an error arrive`() async {
        let (lines, error) = await all(started(.init(pieces: ["a\nb\nc"], end: .lost)).lines)
        #expect(lines == ["a", "b"] && RequestError.Code.connectionLost ~= error!)
    }

    @Test func `A line that is too long is the error of the reader and of the operation`() async {
        let operation = started(.init(pieces: ["1\n", "123456789"], end: .stall))
        let (lines, error) = await all(operation.bytes.lines(maximumLength: 8))
        #expect(lines == ["1"] && RequestError.Code.lineTooLong ~= error!)
        #expect(await requestError(of: operation)?.code == .lineTooLong)
        #expect("\(error!)".contains("a line has more than 8 bytes"))
    }

    @Test func `After its error a sequence of lines is at its end`() async throws {
        var lines = started(.init(pieces: ["123456789\n1\n"])).bytes.lines(maximumLength: 8).makeAsyncIterator()
        await #expect(throws: RequestError.self) { try await lines.next() }
        #expect(try await lines.next() == nil)
    }
}
