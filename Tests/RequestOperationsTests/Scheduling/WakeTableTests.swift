import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct WakeTableTests {
    private let clock = ManualClock()
    private let table = WakeTable<String>()

    /// Whether nothing is kept.
    private var isUnused: Bool { table.counts == (0, 0) }

    /// Adds one who notes its part and, after a second, its name.
    private func add(
        _ name: String, for key: String = "a", _ parts: Collector<Range<Double>> = Collector(),
        _ woken: Collector<String> = Collector()
    ) -> WakeTable<String>.Ticket {
        table.add(key) { [clock] part in
            parts.append(part)
            return cancelling(RequestClock(clock).alarm(after: .seconds(1)) { woken.append(name) })
        }
    }

    @Test func `A sign releases all who wait for it in their order`() {
        let parts = Collector<Range<Double>>()
        let tickets = (0..<4).map { add("\($0)", parts) }
        table.release("a")
        #expect(parts.elements == [0..<0.25, 0.25..<0.5, 0.5..<0.75, 0.75..<1])
        for ticket in tickets { table.remove(ticket) }
        #expect(isUnused)
    }

    @Test func `Whoever gives the sign does not wait until many are released`() async {
        let (mayGoOn, woken) = (DispatchSemaphore(value: 0), Collector<Bool>())
        let tickets = (0..<1000).map { index in
            table.add("a") { [clock] _ in
                // Is signalled when the sign was given.
                if index == 0 {
                    woken.append(mayGoOn.wait(timeout: .now() + 120) == .success)
                } else {
                    woken.append(true)
                }
                return cancelling(RequestClock(clock).alarm(after: .seconds(1)) {})
            }
        }
        table.release("a")
        mayGoOn.signal()
        await woken.count(1000)
        #expect(woken.elements.allSatisfy { $0 })
        for ticket in tickets { table.remove(ticket) }
        await eventually { isUnused }
    }

    @Test func `Whoever is removed while many are released is not`() async {
        let (mayGoOn, woken) = (DispatchSemaphore(value: 0), Collector<Int>())
        let tickets = (0..<1000).map { index in
            table.add("a") { [clock] _ in
                if index == 0 { _ = mayGoOn.wait(timeout: .now() + 120) }
                woken.append(index)
                return cancelling(RequestClock(clock).alarm(after: .seconds(1)) {})
            }
        }
        table.release("a")
        for ticket in tickets.suffix(500) { table.remove(ticket) }
        mayGoOn.signal()
        for ticket in tickets { table.remove(ticket) }
        await eventually { isUnused }
        #expect(!woken.elements.contains { $0 >= 500 })
    }

    @Test func `Whoever waits for another sign goes on waiting`() {
        let parts = Collector<Range<Double>>()
        let ticket = add("b", for: "b", parts)
        table.release("a")
        #expect(parts.elements.isEmpty && !table.isEmpty)
        table.remove(ticket)
        #expect(table.isEmpty)
    }

    @Test func `A second sign releases nobody twice`() {
        let parts = Collector<Range<Double>>()
        let ticket = add("a", parts)
        table.release("a")
        table.release("a")
        #expect(parts.elements.count == 1)
        table.remove(ticket)
    }

    @Test func `Whoever is removed is not released`() {
        let parts = Collector<Range<Double>>()
        table.remove(add("a", parts))
        table.release("a")
        #expect(parts.elements.isEmpty && isUnused)
    }

    @Test func `The alarm of one who is removed is cancelled`() async {
        let woken = Collector<String>()
        let (first, second) = (add("first", woken: woken), add("second", woken: woken))
        table.release("a")
        await clock.sleepers(2)
        table.remove(first)
        await eventually { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await woken.count(1)
        #expect(woken.elements == ["second"])
        table.remove(second)
    }

    private func add(_ name: String, woken: Collector<String>) -> WakeTable<String>.Ticket {
        add(name, for: "a", Collector(), woken)
    }

    @Test func `Whoever is removed while it is released has no alarm`() async {
        let first = Locked<WakeTable<String>.Ticket?>(nil)
        let ticket = table.add("a") { [clock, table] _ in
            // In the midst of its release.
            first.withLock { $0 }.map { table.remove($0) }
            return cancelling(RequestClock(clock).alarm(after: .seconds(1)) { Issue.record("it was woken") })
        }
        first.withLock { $0 = ticket }
        table.release("a")
        #expect(isUnused)
        await eventually { clock.sleeperCount == 0 }
    }

    @Test func `Many threads come and go while signs are given`() async {
        let released = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { [table] in
                    for _ in 0..<200 {
                        let ticket = table.add("a") { _ in
                            released.withLock { $0 += 1 }
                            return cancelling(RequestClock(ContinuousClock()).alarm(after: .seconds(3600)) {})
                        }
                        table.release("a")
                        table.remove(ticket)
                    }
                }
            }
        }
        // Nobody twice; who is removed while another thread releases it may go without.
        #expect(isUnused && released.withLock { $0 } <= 1600)
    }
}

/// What cancels an alarm.
private func cancelling(_ alarm: Alarm) -> WakeTable<String>.Cancel {
    { alarm.cancel() }
}
