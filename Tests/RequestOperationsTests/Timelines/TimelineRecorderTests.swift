import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(2))) struct TimelineRecorderTests {
    /// Runs requests, of which every tenth fails. Its transport answers at once.
    static func recorder(_ count: Int, details: Int = 100) async throws -> TimelineRecorder {
        let recorder = TimelineRecorder(details: details)
        var configuration = RequestConfiguration()
        configuration.transport = NumberedTransport()
        configuration.hosts = HostRegistry()
        configuration.retryPolicy = .none
        configuration.record(in: recorder)
        let batch = RequestBatch(
            each: (0..<count).lazy.map { [configuration] number in
                URLRequestOperation(
                    URL(string: "https://h\(number % 3).invalid/\(number)?key=canary")!, configuration: configuration)
            }, policy: .collectAll)
        OperationQueue().addOperation(batch)
        _ = try await batch.value
        return recorder
    }

    /// Answers 404 to the paths that end in 0.
    private struct NumberedTransport: Transport {
        func perform(
            _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
        ) async throws -> TransportResponse {
            let url = task.request.url!
            let fields = [(name: "Set-Cookie", value: "session=canary"), (name: "Content-Type", value: "text/plain")]
            let head = ResponseHead(status: url.path.hasSuffix("0") ? 404 : 200, url: url, fields: fields)
            try onHead(head)
            return TransportResponse(head: head, body: Data("1".utf8))
        }
    }

    @Test func `The totals count every request, and the details are bounded`() async throws {
        let report = try await Self.recorder(2000, details: 20).report
        let summary = report.summary
        #expect(summary.requests == 2000 && summary.failed == 200 && summary.succeeded == 1800)
        #expect(summary.attempts == 2000 && summary.retries == 0)
        #expect(summary.statuses == [200: 1800, 404: 200])
        #expect(summary.failures == ["unacceptableStatus": 200])
        #expect(summary.latency.count == 2000)
        #expect(report.slowest.count == 20 && report.failed.count == 20 && (10...20).contains(report.sample.count))
    }

    @Test func `The slowest requests are those with the longest times`() async throws {
        let report = try await Self.recorder(500, details: 10).report
        let durations = report.slowest.map { $0.duration ?? .zero }
        #expect(durations == durations.sorted(by: >))
        #expect(durations.first == report.summary.latency.maximum)
    }

    @Test func `The failed requests are the first and the last ones`() async throws {
        let failed = try await Self.recorder(300, details: 4).report.failed
        #expect(failed.count == 4 && Set(failed.map(\.url)).count == 4)
        #expect(failed.allSatisfy { $0.status == 404 })
    }

    @Test func `Each host has its own totals`() async throws {
        let hosts = try await Self.recorder(300).report.summary.hosts
        #expect(hosts.map(\.requests) == [100, 100, 100])
        #expect(hosts.reduce(0) { $0 + $1.failed } == 30)
        #expect(Set(hosts.map(\.origin)) == ["https://h0.invalid", "https://h1.invalid", "https://h2.invalid"])
    }

    @Test func `Other work without a resource is recorded as well`() async throws {
        let recorder = TimelineRecorder()
        var configuration = RequestConfiguration()
        configuration.hosts = HostRegistry()
        configuration.record(in: recorder)
        let operation = RetryingOperation(named: "sync", configuration: configuration) { _ in 1 }
        let queue = RequestQueue()
        queue.addOperation(operation)
        await queue.finished()
        #expect(recorder.report.sample.map(\.method) == ["sync"] && recorder.summary.succeeded == 1)
    }

    @Test func `A percentile is at most 1 percent too large`() {
        var histogram = LatencyHistogram()
        for number in 1...1000 { histogram.record(.milliseconds(number)) }
        #expect(histogram.percentile(0.5) >= .milliseconds(500) && histogram.percentile(0.5) < .milliseconds(505))
        #expect(histogram.percentile(1) == .seconds(1) && histogram.maximum == .seconds(1))
        #expect(LatencyHistogram().percentile(0.5) == .zero)
    }
}
