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
