import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct SummaryTests {
    @Test func `It tells counts, retries, throughput, latency, statuses and failures`() {
        var tally = Tally()
        for id in 1...8 { tally.add(outcome(id, status: 200)) }
        tally.add(outcome(9, status: 404, ending: failure("unacceptableStatus")))
        tally.add(outcome(10, status: nil, ending: failure("timedOut")))
        tally.retries = 1
        tally.unusable = 2
        let summary = Summary(tally: tally, duration: .seconds(2), stopped: nil)
        #expect(
            summary.description == """
                urlrequest: 10 requests in 2.00 s: 8 succeeded, 2 failed; 1 retry; 5.00 requests/s; 10.0 kB
                urlrequest: latency: p50 5.02 ms, p90 9.02 ms, p95 10.0 ms, p99 10.0 ms, max 10.0 ms
                urlrequest: statuses: 8 × 200, 1 × 404
                urlrequest: failures: 1 timedOut, 1 unacceptableStatus
                urlrequest: unusable: 2 lines or arguments

                """)
    }

    @Test func `It names the option for servers of a private authority`() {
        var tally = Tally()
        // An expired certificate has the same code, and no root helps against it.
        tally.add(outcome(1, status: nil, ending: failure("untrustedCertificate")))
        #expect(!Summary(tally: tally, duration: .seconds(1), stopped: nil).description.contains("--cacert FILE"))
        let unknown = Outcome.Failure(code: "untrustedCertificate", message: rootsAdvice)
        tally.add(outcome(2, status: nil, ending: .failed(unknown)))
        #expect(Summary(tally: tally, duration: .seconds(1), stopped: nil).description.contains("--cacert FILE"))
    }

    @Test func `It says that a run was interrupted, and how many requests were cancelled`() {
        var tally = Tally()
        tally.add(outcome(1, status: nil, ending: .failed(.cancelled)))
        let summary = Summary(tally: tally, duration: .seconds(1), stopped: .signal(SIGINT))
        #expect(
            summary.description
                == "urlrequest: interrupted: 0 requests in 1.00 s: 0 succeeded, 0 failed, 1 cancelled; 0 retries; "
                + "0.00 requests/s; 1.00 kB\n")
    }

    @Test func `Requests that were skipped are counted apart, and have no latency`() {
        var tally = Tally()
        tally.add(outcome(1, status: nil, ending: .skipped))
        tally.add(outcome(2, status: 200))
        let summary = Summary(tally: tally, duration: .seconds(1), stopped: nil).description
        #expect(summary.contains("1 request in 1.00 s: 1 succeeded, 0 failed, 1 skipped; 0 retries; "))
        #expect(tally.requests == 2 && tally.latency.count == 1)
    }

    @Test(arguments: [(0, "0 B"), (999, "999 B"), (1500, "1.50 kB"), (3_210_000_000, "3.21 GB")])
    func `Bytes have the unit that suits them`(_ count: Int, _ text: String) {
        #expect(readable(bytes: Int64(count)) == text)
    }

    private func outcome(_ id: Int, status: Int?, ending: Outcome.Ending = .succeeded) -> Outcome {
        Outcome(
            id: id, url: "http://a.example/", status: status, bytes: 1000, attempts: 1, seconds: .milliseconds(id),
            ending: ending, file: nil)
    }

    private func failure(_ code: String) -> Outcome.Ending {
        .failed(Outcome.Failure(code: code, message: ""))
    }
}

@Suite(.timeLimit(.minutes(10))) struct HistogramTests {
    @Test func `Without durations every percentile is zero`() {
        #expect(LatencyHistogram().percentile(0.99) == .zero)
    }

    @Test(arguments: [0.5, 0.9, 0.99, 1])
    func `A percentile is at most 0.8 % above that of the sorted durations, and never below`(_ fraction: Double) {
        var generator = SystemRandomNumberGenerator()
        let microseconds = (0..<10_000).map { _ in Int64(pow(10, Double.random(in: 0...9, using: &generator))) }
        var histogram = LatencyHistogram()
        for value in microseconds { histogram.record(.microseconds(value)) }
        let exact = microseconds.sorted()[Int((fraction * 10_000).rounded(.up)) - 1]
        let found = histogram.percentile(fraction).microseconds
        #expect(found >= exact)
        #expect(Double(found) <= Double(exact) * 1.008 + 1)
    }

    @Test func `Small durations are exact`() {
        var histogram = LatencyHistogram()
        for value in 1...100 { histogram.record(.microseconds(value)) }
        #expect(histogram.percentile(0.5) == .microseconds(50))
        #expect(histogram.percentile(0.95) == .microseconds(95))
    }

    @Test func `The maximum is exact`() {
        var histogram = LatencyHistogram()
        histogram.record(.nanoseconds(1_234_567_891))
        histogram.record(.zero)
        #expect(histogram.maximum == .nanoseconds(1_234_567_891))
        #expect(histogram.percentile(1) == histogram.maximum)
    }

    @Test func `Durations of years and negative ones are counted`() {
        var histogram = LatencyHistogram()
        histogram.record(.seconds(1_000_000_000))
        histogram.record(.seconds(-1))
        #expect(histogram.count == 2)
        #expect(histogram.percentile(0.5) == .zero)
    }
}

@Suite(.timeLimit(.minutes(10))) struct OutcomeFormatTests {
    @Test func `A line of text has status, URL, bytes, attempts, seconds and ending`() {
        #expect(OutcomeFormat.text.line(outcome()) == "200 http://a.example/ 12 2 0.001234 ok\n")
    }

    @Test func `A failure after a good status does not read as a success`() {
        let line = OutcomeFormat.text.line(outcome(ending: .failed(.init(code: "truncatedBody", message: ""))))
        #expect(line == "200 http://a.example/ 12 2 0.001234 failed:truncatedBody\n")
    }

    @Test func `A status that is missing is printed as a dash`() {
        #expect(OutcomeFormat.text.line(outcome(status: nil, ending: .skipped)).hasPrefix("- http"))
        #expect(OutcomeFormat.text.line(outcome(status: nil, ending: .skipped)).hasSuffix(" skipped\n"))
    }

    @Test func `A JSON line has the nine keys`() throws {
        let line = OutcomeFormat.json.line(outcome(file: "a.txt"))
        #expect(
            line
                == #"{"id":3,"url":"http://a.example/","status":200,"bytes":12,"attempts":2,"seconds":0.001234,"#
                + #""file":"a.txt","error":null,"timeline":[]}"# + "\n")
    }

    @Test func `A failure is an object of code and message`() throws {
        let failure = Outcome.Failure(code: "timedOut", message: "a \"b\"\n\\ \u{2028}é\u{01}")
        let line = OutcomeFormat.json.line(outcome(status: nil, ending: .failed(failure)))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(object["status"] is NSNull)
        #expect(object["error"] as? [String: String] == ["code": "timedOut", "message": failure.message])
        #expect(line.dropLast().allSatisfy { !$0.isNewline })
    }

    @Test(arguments: [(0, "0.000000"), (999, "0.000999"), (61_000_001, "61.000001")])
    func `Seconds have six decimals`(_ microseconds: Int, _ text: String) {
        #expect(Duration.microseconds(microseconds).decimalSeconds == text)
    }

    private func outcome(
        status: Int? = 200, ending: Outcome.Ending = .succeeded, file: String? = nil
    ) -> Outcome {
        Outcome(
            id: 3, url: "http://a.example/", status: status, bytes: 12, attempts: 2, seconds: .microseconds(1234),
            ending: ending, file: file)
    }
}
