/// Those that wait for their hosts to recover: a line for each scheme, host and port, in the order in which they came.
///
/// Successes clock a line, as acknowledgements clock TCP's slow start (RFC 5681, section 3.1): each releases two of those that
/// wait. So two go after the first success, then four, then eight. A host that fails again gives no successes, so the line stops.
final class RecoveryLines: Sendable {
    /// Ends the wait of one that is released; whether it was under way still.
    typealias Waiter = @Sendable (Release) -> Bool

    struct Ticket: Sendable {
        fileprivate let origin: Origin
        fileprivate let id: UInt64
    }

    /// Those that wait for one host, and those that went.
    private struct HostLine {
        var waiters: [UInt64: Waiter] = [:]
        /// In their order. Those that left stay until they come up or are the most.
        var order = Line<UInt64>()
        var orderCount = 0
        /// How many were released and have told no outcome yet.
        var underWay = 0
        /// The longest that any of them names.
        var pause = Duration.zero

        mutating func add(_ waiter: @escaping Waiter, _ id: UInt64) {
            waiters[id] = waiter
            order.append(id)
            orderCount += 1
        }

        mutating func popFirst() -> Waiter? {
            while let id = order.popFirst() {
                orderCount -= 1
                if let waiter = waiters.removeValue(forKey: id) { return waiter }
            }
            return nil
        }

        mutating func remove(_ id: UInt64) -> Waiter? {
            let waiter = waiters.removeValue(forKey: id)
            if orderCount > 2 * waiters.count + 16 {
                let rest = order.elements.filter { waiters[$0] != nil }
                (order, orderCount) = (Line(), rest.count)
                for id in rest { order.append(id) }
            }
            return waiter
        }
    }

    private struct State {
        var lastID: UInt64 = 0
        var lines: [Origin: HostLine] = [:]
        var waitingCount = 0
        var known = OriginTable<HostRecoveries>()

        mutating func change<Result>(_ origin: Origin, _ change: (inout HostLine) -> Result) -> Result {
            // Taken out, so that it is not copied.
            var line = lines.removeValue(forKey: origin) ?? HostLine()
            let before = line.waiters.count
            defer {
                waitingCount += line.waiters.count - before
                if !line.waiters.isEmpty || line.underWay > 0 { lines[origin] = line }
            }
            return change(&line)
        }
    }

    private let clock: RequestClock
    private let state = Locked(State())

    /// How many a success releases.
    private static let releasedBySuccess = 2

    /// Makes lines in which nobody waits.
    init(_ clock: RequestClock) {
        self.clock = clock
    }

    /// Of how many hosts recoveries are known.
    var knownCount: Int { state.withLock { $0.known.count } }

    /// How many wait for a host, and how many were released and have told no outcome.
    func counts(of origin: Origin) -> (waiting: Int, underWay: Int) {
        state.withLock { state in
            state.lines[origin].map { ($0.waiters.count, $0.underWay) } ?? (0, 0)
        }
    }

    /// Adds one that waits for a host, until ``remove(_:)``.
    ///
    /// - Parameter pause: For how long nobody is released at first, after releases were in vain.
    func add(_ origin: Origin, pause: Duration, _ waiter: @escaping Waiter) -> Ticket {
        forget()
        return state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.change(origin) { line in
                line.add(waiter, id)
                line.pause = max(line.pause, pause)
            }
            return Ticket(origin: origin, id: id)
        }
    }

    func remove(_ ticket: Ticket) {
        // What the entry holds is freed outside of the lock.
        let waiter = state.withLock { $0.change(ticket.origin) { $0.remove(ticket.id) } }
        withExtendedLifetime(waiter) {}
    }

    /// Enters the line of a host when a time has passed.
    ///
    /// - Parameters:
    ///   - pause: For how long nobody is released at first, after releases were in vain.
    ///   - tries: Whether one of the line may go then without a success.
    /// - Returns: Leaves the line, or enters none; called once.
    func enter(
        _ origin: Origin, pause: Duration, after delay: Duration, on clock: RequestClock, tries: Bool = false,
        _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void {
        guard delay > .zero || tries else {
            let ticket = add(origin, pause: pause, wake)
            return { self.remove(ticket) }
        }
        let entry = LaterEntry()
        let alarm = clock.alarm(after: delay) {
            entry.begin {
                let ticket = self.add(origin, pause: pause, wake)
                return { self.remove(ticket) }
            }
            if tries { self.tryOne(origin) }
        }
        return {
            alarm.cancel()
            entry.end()
        }
    }

    /// A request succeeded, wherever. Whether anybody waits, so that ``succeeded(_:)`` is to be called.
    func awaitsSuccess() -> Bool {
        forget()
        return state.withLock { $0.waitingCount > 0 }
    }

    /// A request to a host succeeded.
    func succeeded(_ origin: Origin) {
        guard awaitsSuccess() else { return }
        release(Self.releasedBySuccess, from: origin)
    }

    /// Without a success, but for another sign: releases one, unless as many as a success releases are under way.
    func tryOne(_ origin: Origin) {
        release(1, from: origin, whileFewerThan: Self.releasedBySuccess)
    }

    /// What came of a release.
    func settle(_ outcome: Release.Outcome, of origin: Origin, pause: Duration) {
        state.withLock { $0.change(origin) { $0.underWay -= 1 } }
        switch outcome {
        case .succeeded:
            learn(of: origin) { recoveries, _ in recoveries.succeeded() }
            succeeded(origin)
        case .failed: learn(of: origin) { $0.failed(at: $1, pause: pause) }
        case .passesOn: release(1, from: origin)
        case .untold: break
        }
    }

    /// Forgets recoveries that say nothing any more, unless that was done in the last hour.
    private func forget() {
        // Mostly nothing is known, and then the time need not be read.
        guard knownCount > 0 else { return }
        let now = clock.now
        state.withLock { $0.known.sweep(at: now.nanoseconds) { $0.isIdle(at: now) } }
    }

    private func learn(of origin: Origin, _ change: (inout HostRecoveries, Duration) -> Void) {
        let now = clock.now
        state.withLock { state in
            state.known.change(
                origin, at: now.nanoseconds, initially: HostRecoveries(), isIdle: { $0.isIdle(at: now) },
                by: { change(&$0, now) })
        }
    }

    /// - Parameter limit: Releases none while so many are under way.
    private func release(_ count: Int, from origin: Origin, whileFewerThan limit: Int = .max) {
        guard state.withLock({ $0.lines[origin]?.waiters.isEmpty == false }), mayRelease(from: origin) else { return }
        var left = count
        while left > 0 {
            let next = state.withLock { state in
                state.change(origin) { line -> (Waiter, Duration)? in
                    guard line.underWay < limit, let waiter = line.popFirst() else { return nil }
                    line.underWay += 1
                    return (waiter, line.pause)
                }
            }
            guard let (waiter, pause) = next else { return }
            let release = Release(self, of: origin, pause: pause)
            if waiter(release) {
                left -= 1
            } else {
                // Its wait has just ended otherwise.
                release.settle(.untold)
            }
        }
    }

    private func mayRelease(from origin: Origin) -> Bool {
        let now = clock.now
        return state.withLock { $0.known.change(origin) { $0.releases(at: now) } } ?? true
    }
}
