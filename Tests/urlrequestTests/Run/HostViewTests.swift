import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(2))) struct HostViewTests {
    private static func host(_ origin: String, _ activities: [RequestActivity]) -> HostView.Host {
        var host = HostView.Host(origin: origin)
        for activity in activities { host.count(activity) }
        return host
    }

    @Test func `A row shows what is in flight, the rate, and who waits for what`() {
        var busy = Self.host(
            "http://a.example",
            [
                .running, .running, .waiting(.queue), .waiting(.slot), .waiting(.backoff), .waiting(.retryAfter),
                .waiting(.budget), .ended,
            ])
        (busy.rate, busy.pace, busy.leftAlone, busy.circuit) = (9.8, 5, .seconds(2), .open)
        let view = HostView([Self.host("http://b.example:8080", [.running]), busy])
        #expect(
            view.rows == [
                "http://a.example       2 in flight  9.80/s  queue 1  slot 1  backoff 1  budget 1  retry after 1  "
                    + "pace 5.00/s  left alone for 2.00 s  circuit open",
                "http://b.example:8080  1 in flight  0.00/s",
            ])
    }

    @Test func `The busiest hosts are shown by their names, and the others are counted`() {
        let view = HostView(
            (1...12).map { Self.host("http://h\($0).example", Array(repeating: .running, count: $0)) })
        #expect(view.rows.count == 9 && view.rows[0].hasPrefix("http://h10.example  10 in flight  "))
        #expect(view.rows[7].hasPrefix("http://h9.example ") && view.rows[8] == "and 4 more hosts")
        #expect(view.words.hasPrefix("; http://h10.example 10 in flight, 0.00/s; http://h11.example "))
        #expect(view.words.contains("; http://h9.example ") && view.words.hasSuffix("; 8 more hosts"))
    }

    @Test func `Without a host nothing is shown`() {
        #expect(HostView([]).rows.isEmpty && HostView([]).words.isEmpty)
    }
}
