import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct HostRecoveriesTests {
    /// The seconds in which a success releases somebody, of one success every so often, where each release fails or succeeds.
    private static func releases(every step: Int = 1, until end: Int, fail: (Int) -> Bool = { _ in true }) -> [Int] {
        var recoveries = HostRecoveries()
        return stride(from: 0, through: end, by: step).filter { second in
            let now = Duration.seconds(second)
            guard recoveries.releases(at: now) else { return false }
            if fail(second) { recoveries.failed(at: now, pause: .seconds(3)) } else { recoveries.succeeded() }
            return true
        }
    }

    @Test func `The pause between releases that fail doubles up to twenty times`() {
        #expect(Self.releases(until: 240) == [0, 1, 4, 10, 22, 46, 94, 154, 214])
    }

    @Test func `Where releases succeed there is no pause`() {
        #expect(Self.releases(until: 100) { _ in false } == Array(0...100))
    }

    @Test func `One release in five may fail`() {
        #expect(Self.releases(until: 100) { $0 % 5 == 4 } == Array(0...100))
    }

    @Test func `Of a host that fails every other release few are made`() {
        #expect(Self.releases(until: 240) { $0 % 2 == 0 }.count < 20)
    }

    @Test func `What follows after twice the pause is a new recovery`() {
        // Two in a row each time, and then a pause of 3 s.
        var recoveries = HostRecoveries()
        for start in [0, 100, 200] {
            let now = Duration.seconds(start)
            for _ in 1...2 {
                let isReleased = recoveries.releases(at: now)
                recoveries.failed(at: now, pause: .seconds(3))
                #expect(isReleased)
            }
            var (before, after) = (recoveries, recoveries)
            let areReleased = [before.releases(at: now + .milliseconds(2999)), after.releases(at: now + .seconds(3))]
            #expect(areReleased == [false, true])
        }
    }

    @Test func `Without a pause every success releases`() {
        var recoveries = HostRecoveries()
        for _ in 0..<10 {
            let isReleased = recoveries.releases(at: .zero)
            recoveries.failed(at: .zero, pause: .zero)
            #expect(isReleased)
        }
    }

    @Test func `After the longest pause and as long again nothing is known`() {
        var recoveries = HostRecoveries()
        #expect(recoveries.isIdle(at: .zero))
        for second in 0..<1000 {
            let now = Duration.seconds(second)
            if recoveries.releases(at: now) { recoveries.failed(at: now, pause: .seconds(3)) }
        }
        #expect(!recoveries.isIdle(at: .seconds(1000)) && recoveries.isIdle(at: .seconds(1000 + 120)))
    }
}
