import Foundation
import RequestOperations
import Testing

/// Streams and progress, as a program of another module uses them.
@Suite(.timeLimit(.minutes(15))) struct StreamFaceTests {
    private let url = URL(fileURLWithPath: "/")

    @Test func `A stream has bytes and lines`() {
        let operation: URLRequestOperation<ResponseHead> = StreamOperation(url)
        let stream = StreamOperation(URLRequest(url: url), configuration: RequestConfiguration())
        let bytes: StreamBytes = stream.bytes
        let lines: [StreamLines] = [stream.lines, bytes.lines, bytes.lines(maximumLength: 100)]
        #expect(lines.count == 3 && operation.result == nil)
        #expect(StreamBytes.defaultMaximumLineLength == 1 << 20)
    }

    @Test func `A source of events has events`() {
        let operations: [EventSourceOperation] = [
            EventSourceOperation(url),
            EventSourceOperation(URLRequest(url: url), lastEventID: "7", reconnects: false),
            EventSourceOperation(
                url, reconnectionTime: .seconds(1), maximumEventSize: 1000, configuration: RequestConfiguration()),
        ]
        let events: ServerSentEvents = operations[0].serverSentEvents
        #expect(events.description.hasPrefix("events of GET"))
        let event = ServerSentEvent(type: "tick", data: "1", id: "7")
        #expect(event.type == "tick" && event.data == "1" && event.id == "7")
        #expect(RequestError.Code.lineTooLong.description == "lineTooLong")
    }

    @Test func `Stages of a stream can be overridden`() {
        let operations: [URLRequestOperation<ResponseHead>] = [Quiet(url), QuietSource(url)]
        #expect(operations.count == 2)
    }

    @Test func `The updates of progress have the speed and the time left`() {
        let updates: AsyncStream<ProgressUpdate> = StreamOperation(url).progressUpdates
        let update = ProgressUpdate(completed: 1, total: 3, throughput: 2)
        let values: (Double?, Duration?) = (update.fraction, update.timeLeft)
        #expect(values.0 == 1.0 / 3 && values.1 == .seconds(1))
        withExtendedLifetime(updates) {}
    }

    @Test func `A download may have segments`() {
        #expect(DownloadOperation(url, to: .folder(url), resume: .acrossProcesses, segments: 4).result == nil)
    }
}

private final class Quiet: StreamOperation, @unchecked Sendable {
    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        var task = try await super.makeTask(for: request)
        task.limits.idle = .seconds(5)
        return task
    }

    override func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        await super.retryDecision(after: failure)
    }
}

private final class QuietSource: EventSourceOperation, @unchecked Sendable {
    override func validate(_ head: ResponseHead) throws {
        try super.validate(head)
    }

    override func retryDecision(afterSuccess value: ResponseHead, attempt: Int) async -> RetryDecision? {
        await super.retryDecision(afterSuccess: value, attempt: attempt)
    }
}
