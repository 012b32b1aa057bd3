/// The connection of the machine to networks, now and as it changes.
///
/// ```swift
/// for await reachability in NetworkPath.shared.changes {
///     print(reachability.isReachable ? "online" : "offline")
/// }
/// ```
///
/// On Linux the kernel reports changes (rtnetlink). Links, addresses and default routes are then read again. On Apple's
/// systems `NWPathMonitor` reports the path. If the system reports nothing, as in a sandbox that forbids it, the
/// machine always counts as reachable, by an interface of kind `other`.
///
/// Reachable means that an interface other than the loopback is up, and has a carrier and an address. That includes an
/// interface that only leads to containers or virtual machines on the same machine (`docker0`, `virbr0`). On Linux an
/// address of 169.254.0.0/16 counts only if its interface has a default route.
///
/// You can use a path from any thread.
public final class NetworkPath: Sendable {
    /// How far the machine can reach. Requests that were cut off wait for a rise of this level.
    enum Level: Int, Sendable, Comparable {
        case none
        /// The machine's own network.
        case local
        /// Networks beyond its own.
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
        /// The number of the last rise.
        var rise = 0
        private var hasBeenRouted: Bool

        init(reading: Reading) {
            self.reading = reading
            hasBeenRouted = reading.level == .routed
        }

        var isConnected: Bool { reading.level == .routed || reading.level == .local && !hasBeenRouted }
    }

    /// How many rises there have been, of all paths of the process.
    private static let riseCount = Locked(0)

    /// The connection of this machine. It is read at its first use, and watched from then on.
    public static let shared = systemMonitor().map { NetworkPath(watching: $0) } ?? NetworkPath()

    private let state: Locked<State>
    private let broadcast: Broadcast<Reachability>
    private let waiters = WakeTable<Sign>()
    /// `nil` for a path that the program updates itself.
    private let monitor: (any PathMonitor)?

    private enum Sign {
        case rise
    }

    /// Makes a path that changes only when you update it. It is for tests, and for programs that know the state better.
    ///
    /// - Parameter initial: The first state. Reachable by an interface of kind `other` by default.
    public init(_ initial: Reachability = .reachable(.other)) {
        let reading = Reading(initial)
        state = Locked(State(reading: reading))
        broadcast = Broadcast(reading.reachability)
        monitor = nil
    }

    /// Makes a path that follows a monitor. It takes the monitor's first reading here, and that does not count as a
    /// change.
    init(watching monitor: any PathMonitor) {
        let reading = monitor.initial
        state = Locked(State(reading: reading))
        broadcast = Broadcast(reading.reachability)
        self.monitor = monitor
        monitor.start { [weak self] in self?.take($0) }
    }

    deinit { monitor?.stop() }

    /// The current state of the path.
    public var reachability: Reachability { state.withLock { $0.reading.reachability } }

    var level: Level { state.withLock { $0.reading.level } }

    /// Whether a request can be expected to reach a host. A machine that once had a default route and now has none is
    /// cut off. The network that it shares with its own containers and virtual machines does not change that.
    var isConnected: Bool { state.withLock { $0.isConnected } }

    /// The current state of the path, and each change of it.
    ///
    /// Each caller gets its own stream, which never ends by itself. If you do not read values in time, only the last
    /// one is kept.
    public var changes: AsyncStream<Reachability> { broadcast.stream() }

    /// Sets the state of a path that you made yourself. For the path of the system, which updates itself, this is a
    /// programming error.
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
            if hasRisen {
                state.rise = Self.riseCount.withLock { count in
                    count += 1
                    return count
                }
            }
            return (state.number, hasRisen, isNews)
        }
        if isNews { broadcast.send(reading.reachability, number: number) }
        if hasRisen { waiters.release(.rise) }
    }

    /// The number of the last rise. No other rise in the process has it, and a later one has a higher number.
    var lastRise: Int { state.withLock { $0.rise } }

    /// Calls a waiter at the next rise, with its part of all waiters. The waiter returns a closure that cancels what it
    /// began. Returns a closure that ends the watch; it is called once.
    func watch(_ waiter: @escaping @Sendable (Range<Double>) -> @Sendable () -> Void) -> @Sendable () -> Void {
        let ticket = waiters.add(.rise, waiter)
        return { [waiters] in waiters.remove(ticket) }
    }

    /// How many waiters wait for a change.
    var waitingCount: Int { waiters.counts.waiting }
}

extension NetworkPath.Reading {
    /// The state that a program sets. It counts as full reach.
    fileprivate init(_ reachability: Reachability) {
        self.init(level: reachability.isReachable ? .routed : .none, interface: reachability.interface ?? .other)
    }

    /// The reading for a system that reports nothing.
    static let unknown = NetworkPath.Reading(level: .routed, interface: .other)
}

/// Whether the machine is connected to a network.
public enum Reachability: Sendable, Hashable {
    /// There is no network. No interface except the machine's own loopback is up and has an address.
    case unreachable
    /// There is a network on an interface. It does not show whether a host can be reached through it.
    case reachable(Interface)

    /// The kinds of interface.
    public enum Interface: Sendable, Hashable {
        /// Ethernet, or an interface that looks like it, such as that of a container.
        case wired
        /// A wireless local network.
        case wifi
        /// A cellular network.
        case cellular
        /// Another kind, or an unknown one.
        case other
    }

    /// Whether there is a network.
    public var isReachable: Bool { self != .unreachable }

    /// The kind of interface; `nil` without a network.
    public var interface: Interface? {
        if case .reachable(let interface) = self { interface } else { nil }
    }
}
