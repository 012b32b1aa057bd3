import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RecoveryLinesTests {
    private let origin = Origin(URL(string: "http://lines.invalid/"))
    private let clock = ManualClock()
    private let lines: RecoveryLines

    init() {
        lines = RecoveryLines(RequestClock(clock))
    }

    /// Two that wait for a host are released, and fail.
    private func fail(pause: Duration = .seconds(3)) {
        let releases = Collector<Release>()
        let tickets = (1...2).map { _ in
            lines.add(origin, pause: pause) { release in
                releases.append(release)
                return true
            }
        }
        lines.succeeded(origin)
        for release in releases.elements { release.settle(.failed) }
        for ticket in tickets { lines.remove(ticket) }
    }

    @Test func `What is known of a host is forgotten with a success of another`() {
        fail()
        #expect(lines.knownCount == 1)
        clock.advance(by: .seconds(3600))
        #expect(lines.awaitsSuccess() == false)
        #expect(lines.knownCount == 0)
    }

    @Test func `What is known of a host is forgotten when a request waits for another`() {
        fail()
        clock.advance(by: .seconds(3600))
        lines.remove(lines.add(Origin(URL(string: "http://other.invalid/")), pause: .zero) { _ in false })
        #expect(lines.knownCount == 0)
    }

    @Test func `It is kept for an hour`() {
        fail()
        clock.advance(by: .seconds(3599))
        _ = lines.awaitsSuccess()
        #expect(lines.knownCount == 1)
    }

    @Test func `A pause that goes on is kept`() {
        fail(pause: .seconds(1_000_000))
        clock.advance(by: .seconds(3600))
        _ = lines.awaitsSuccess()
        #expect(lines.knownCount == 1)
    }
}
