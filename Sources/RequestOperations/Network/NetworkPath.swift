/// How the machine is connected to networks, now and as it changes.
///
/// ```swift
/// for await reachability in NetworkPath.shared.changes {
///     print(reachability.isReachable ? "online" : "offline")
/// }
/// ```
///
/// On Linux the kernel tells of links, addresses and routes (rtnetlink), on Apple's systems `NWPathMonitor` does. Where the
/// system tells nothing, as in a sandbox that forbids it, the machine counts as reachable by an interface of another kind,
/// always.
///
/// Reachable means that an interface other than the loopback is up, has a carrier and an address: also one that leads no
/// further than to containers or virtual machines on the same machine (`docker0`, `virbr0`).
///
/// It can be used from any thread.
public final class NetworkPath: Sendable {
    /// How far the machine can reach. A rise is what those wait for who were cut off.
    enum Level: Int, Sendable, Comparable {
        case none
        /// Its own network.
        case local
        /// What is beyond.
        case routed

        static func < (first: Level, second: Level) -> Bool { first.rawValue < second.rawValue }
    }

    /// One reading of the system.
    struct Reading: Sendable, Equatable {
        let level: Level
        let interface: Reachability.Interface

        var reachability: Reachability { level == .none ? .unreachable : .reachable(interface) }
    }

    private struct State {
        var reading: Reading {
            didSet { if reading.level == .routed { hasBeenRouted = true } }
        }
        var number = 0
        private var hasBeenRouted: Bool

        init(reading: Reading) {
            self.reading = reading
            hasBeenRouted = reading.level == .routed
        }

        var isConnected: Bool { reading.level == .routed || reading.level == .local && !hasBeenRouted }
    }

    /// The connection of this machine. It is read when this is first used, and watched from then on.
    public static let shared = NetworkPath(watching: SystemPath.monitor())

    private let state: Locked<State>
    private let broadcast: Broadcast<Reachability>
    private let waiters = WakeTable<Sign>()
    /// `nil` for a path that a program tells.
    private let monitor: (any PathMonitor)?

    private enum Sign {
        case rise
    }

    /// Makes a path that changes when it is told to: for tests, and for programs that know better.
    ///
    /// - Parameter initial: What it says at first. Reachable by an interface of another kind by default.
    public init(_ initial: Reachability = .reachable(.other)) {
        let reading = Reading(initial)
        state = Locked(State(reading: reading))
        broadcast = Broadcast(reading.reachability)
        monitor = nil
    }

    /// Makes a path that a monitor tells of. The monitor's first reading is taken here and is no change.
    init(watching monitor: any PathMonitor) {
        let reading = monitor.initial
        state = Locked(State(reading: reading))
        broadcast = Broadcast(reading.reachability)
        self.monitor = monitor
        monitor.start { [weak self] in self?.take($0) }
    }

    deinit { monitor?.stop() }

    /// What the path says now.
    public var reachability: Reachability { state.withLock { $0.reading.reachability } }

    var level: Level { state.withLock { $0.reading.level } }

    /// Whether a request may be expected to get somewhere. A machine that once had a default route and has none now is cut
    /// off, even if the network that it shares with its own containers and virtual machines is still there.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    /// What the path says now, and whenever that changes.
    ///
    /// A stream of its own for each who asks; it never ends by itself. Of values that were not taken in time only the last
    /// is kept.
    public var changes: AsyncStream<Reachability> { broadcast.stream() }

    /// Tells a path of your own how it is. A programmer's error for the path of the system, which tells itself.
    public func update(_ reachability: Reachability) {
        precondition(monitor == nil, "Only a path that was made with a value of its own can be told another.")
        take(Reading(reachability))
    }

    func take(_ reading: Reading) {
        let (number, hasRisen, isNews) = state.withLock { state in
            let hasRisen = reading.level > state.reading.level
            let isNews = reading.reachability != state.reading.reachability
            state.reading = reading
            state.number += 1
            return (state.number, hasRisen, isNews)
        }
        if isNews { broadcast.send(reading.reachability, number: number) }
        if hasRisen { waiters.release(.rise) }
    }

    /// Calls a waiter at the next rise, with its part of all who wait; that returns what cancels what it began. Returns what
    /// ends the watch, called once.
    func watch(_ waiter: @escaping @Sendable (Range<Double>) -> @Sendable () -> Void) -> @Sendable () -> Void {
        let ticket = waiters.add(.rise, waiter)
        return { [waiters] in waiters.remove(ticket) }
    }

    /// How many wait for a change.
    var waitingCount: Int { waiters.counts.waiting }
}

extension NetworkPath.Reading {
    /// What a program tells: it means all that can be reached.
    fileprivate init(_ reachability: Reachability) {
        self.init(level: reachability.isReachable ? .routed : .none, interface: reachability.interface ?? .other)
    }

    /// That of a system that tells nothing.
    static let unknown = NetworkPath.Reading(level: .routed, interface: .other)
}

/// Tells of the system's network.
protocol PathMonitor: Sendable {
    /// The reading at the beginning.
    var initial: NetworkPath.Reading { get }

    /// Tells each further reading, one at a time. Called once.
    func start(_ tell: @escaping @Sendable (NetworkPath.Reading) -> Void)

    /// Tells nothing more.
    func stop()
}
