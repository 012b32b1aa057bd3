import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite struct RecoveryLinesTests {
    private let url = URL(string: "http://lines.invalid/")  // A literal that is a URL.
    private let time: Locked<Int64>
    private let lines: RecoveryLines

    init() {
        let time = Locked<Int64>(0)
        self.time = time
        lines = RecoveryLines { time.withLock { $0 } }
    }

    /// Two that wait for a host are released, and fail.
    private func fail(on clock: any Clock<Duration>, pause: Duration = .seconds(3)) {
        let releases = Collector<Release>()
        let tickets = (1...2).map { _ in
            lines.add(url, pause: pause) { release in
                releases.append(release)
                return true
            }
        }
        lines.succeeded(url)
        for release in releases.elements { release.settle(.failed, on: clock) }
        for ticket in tickets { lines.remove(ticket) }
    }

    private func pass(_ nanoseconds: Int64) {
        time.withLock { $0 += nanoseconds }
    }

    @Test func whatIsKnownOfAHostIsForgottenWithASuccessOfAnother() {
        fail(on: ManualClock())
        #expect(lines.knownCount == 1)
        pass(HostMemory.sweepInterval)
        #expect(lines.awaitsSuccess() == false)
        #expect(lines.knownCount == 0)
    }

    @Test func whatIsKnownOfAHostIsForgottenWhenSomebodyWaitsForAnother() {
        fail(on: ManualClock())
        pass(HostMemory.sweepInterval)
        lines.remove(lines.add(URL(string: "http://other.invalid/"), pause: .zero) { _ in false })
        #expect(lines.knownCount == 0)
    }

    @Test func itIsKeptForAnHour() {
        fail(on: ManualClock())
        pass(HostMemory.sweepInterval - 1)
        _ = lines.awaitsSuccess()
        #expect(lines.knownCount == 1)
    }

    @Test func aPauseThatGoesOnIsKept() {
        fail(on: ContinuousClock(), pause: .seconds(1_000_000))
        pass(HostMemory.sweepInterval)
        _ = lines.awaitsSuccess()
        #expect(lines.knownCount == 1)
    }
}
