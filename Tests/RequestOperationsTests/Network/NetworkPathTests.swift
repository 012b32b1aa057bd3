import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct NetworkPathTests {
    private typealias Reading = NetworkPath.Reading

    /// Counts the alarms of those who are released.
    private func watch(_ path: NetworkPath, _ count: Collector<Int>) -> @Sendable () -> Void {
        path.watch { _ in
            count.append(1)
            return {}
        }
    }

    @Test func `It says what it was made with and then what it is told`() {
        let path = NetworkPath(.unreachable)
        #expect(path.reachability == .unreachable && !path.reachability.isReachable)
        path.update(.reachable(.wifi))
        #expect(path.reachability.isReachable && path.reachability.interface == .wifi)
        #expect(NetworkPath().reachability == .reachable(.other))
    }

    @Test func `Its changes begin with what it is`() async {
        let path = NetworkPath(.unreachable)
        var changes = path.changes.makeAsyncIterator()
        #expect(await changes.next() == .unreachable)
        path.update(.reachable(.wired))
        #expect(await changes.next() == .reachable(.wired))
        path.update(.reachable(.wired))
        path.update(.unreachable)
        #expect(await changes.next() == .unreachable)
    }

    @Test(
        arguments: [
            ([.routed], 0), ([.none, .routed], 1), ([.none, .local], 1), ([.none, .local, .routed], 1),
            ([.local, .routed], 1),
            ([.local], 0), ([.none], 0), ([], 0),
        ] as [([NetworkPath.Level], Int)])
    func `Only a rise releases those who wait and once`(levels: [NetworkPath.Level], released: Int) {
        let path = NetworkPath(.reachable(.wired))
        let count = Collector<Int>()
        let remove = watch(path, count)
        for level in levels { path.take(Reading(level: level, interface: .wired)) }
        #expect(count.count == released)
        remove()
        #expect(path.waitingCount == 0)
    }

    @Test func `Each rise has a number of its own whatever the path`() {
        let paths = (0..<2).map { _ in NetworkPath(.unreachable) }
        var numbers: [Int] = []
        for path in paths + paths {
            path.update(.unreachable)
            path.update(.reachable(.wired))
            numbers.append(path.lastRise)
        }
        #expect(numbers == numbers.sorted() && Set(numbers).count == 4)
    }

    @Test(
        arguments: [
            ([], false), ([.local], true), ([.routed], true), ([.local, .routed], true), ([.routed, .local], false),
            ([.routed, .none, .local], false), ([.routed, .none, .local, .routed], true), ([.local, .none], false),
        ] as [([NetworkPath.Level], Bool)])
    func `A machine that has had a default route is connected with one only`(
        levels: [NetworkPath.Level], isConnected: Bool
    ) {
        let path = NetworkPath(.unreachable)
        for level in levels { path.take(Reading(level: level, interface: .wired)) }
        #expect(path.isConnected == isConnected)
    }

    @Test func `The default route that is there at first is remembered`() {
        let path = NetworkPath(.reachable(.wired))
        path.take(Reading(level: .local, interface: .wired))
        #expect(!path.isConnected && path.reachability.isReachable)
    }

    @Test func `The first reading of the system is no change`() {
        struct Monitor: PathMonitor {
            var initial: NetworkPath.Reading { NetworkPath.Reading(level: .routed, interface: .wired) }
            func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) { tell(initial) }
            func stop() {}
        }
        let path = NetworkPath(watching: Monitor())
        let count = Collector<Int>()
        let remove = watch(path, count)
        path.take(Monitor().initial)
        #expect(path.reachability == .reachable(.wired) && count.count == 0)
        remove()
    }

    @Test func `A monitor is stopped with its path`() {
        final class Monitor: PathMonitor {
            let stops = Collector<Int>()
            var initial: NetworkPath.Reading { .unknown }
            func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void) {}
            func stop() { stops.append(1) }
        }
        let monitor = Monitor()
        _ = NetworkPath(watching: monitor)
        #expect(monitor.stops.count == 1)
    }

    @Test func `The path of the system says something`() async {
        var changes = NetworkPath.shared.changes.makeAsyncIterator()
        #expect(await changes.next() == NetworkPath.shared.reachability)
    }
}
