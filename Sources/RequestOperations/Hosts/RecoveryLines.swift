/// The requests that wait for their hosts to recover. There is a line for each scheme, host and port, in order of
/// arrival.
///
/// Successes advance a line, as acknowledgements advance TCP's slow start (RFC 5681, section 3.1). Each success
/// releases two waiting requests. So two start after the first success, then four, then eight. A host that fails again
/// gives no successes, so its line stops.
final class RecoveryLines: Sendable {
    /// Ends the wait of a released request. Returns whether the wait was still under way.
    typealias Waiter = @Sendable (Release) -> Bool

    struct Ticket: Sendable {
        fileprivate let origin: Origin
        fileprivate let id: UInt64
    }

    /// The requests that wait for one host, and the released ones that have not reported their outcome.
    private struct HostLine {
        var waiters: [UInt64: Waiter] = [:]
        /// The ids in order of arrival. Ids of requests that left stay until they come up, or until they are the
        /// majority.
        var order = Line<UInt64>()
        var orderCount = 0
        /// How many requests were released and have not reported an outcome.
        var underWay = 0
        /// The longest pause that any of the waiting requests has asked for.
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

    /// What is known about a host. Tries that fail after another sign say nothing about releases after a success: they
    /// may have come too early.
    private struct Recoveries {
        private var bySuccess = HostRecoveries()
        private var bySign = HostRecoveries()

        subscript(cause: Release.Cause) -> HostRecoveries {
            get { cause == .success ? bySuccess : bySign }
            set { if cause == .success { bySuccess = newValue } else { bySign = newValue } }
        }

        func isIdle(at now: Duration) -> Bool { bySuccess.isIdle(at: now) && bySign.isIdle(at: now) }
    }

    private struct State {
        var lastID: UInt64 = 0
        var lines: [Origin: HostLine] = [:]
        var waitingCount = 0
        var known = OriginTable<Recoveries>()

        mutating func change<Result>(_ origin: Origin, _ change: (inout HostLine) -> Result) -> Result {
            // We take the line out of the table, so that the change does not copy it.
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

    /// How many requests one success releases.
    private static let releasedBySuccess = 2

    /// Makes empty lines.
    init(_ clock: RequestClock) {
        self.clock = clock
    }

    /// For how many hosts the table keeps recoveries.
    var knownCount: Int { state.withLock { $0.known.count } }

    /// How many requests wait for a host, and how many were released and have not reported an outcome.
    func counts(of origin: Origin) -> (waiting: Int, underWay: Int) {
        state.withLock { state in
            state.lines[origin].map { ($0.waiters.count, $0.underWay) } ?? (0, 0)
        }
    }

    /// Adds a request that waits for a host, until ``remove(_:)``.
    ///
    /// - Parameter pause: The length of the first pause after releases failed.
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
        // We free the contents of the entry outside of the lock.
        let waiter = state.withLock { $0.change(ticket.origin) { $0.remove(ticket.id) } }
        withExtendedLifetime(waiter) {}
    }

    /// Adds a request to the line of a host after a delay.
    ///
    /// - Parameters:
    ///   - pause: The length of the first pause after releases failed.
    ///   - tries: Whether one request of the line may then start without a success.
    /// - Returns: A closure that removes the request from the line, or keeps it from joining. It is called once.
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

    /// Records that a request to any host succeeded. Returns whether any request waits, so that ``succeeded(_:)`` must
    /// be called.
    func awaitsSuccess() -> Bool {
        forget()
        return state.withLock { $0.waitingCount > 0 }
    }

    /// Records that a request to a host succeeded.
    func succeeded(_ origin: Origin) {
        guard awaitsSuccess() else { return }
        release(Self.releasedBySuccess, from: origin, after: .success)
    }

    /// Releases one request because of a sign other than a success. It does nothing while as many are under way as one
    /// success releases.
    func tryOne(_ origin: Origin) {
        release(1, from: origin, after: .sign, whileFewerThan: Self.releasedBySuccess)
    }

    /// Records the outcome of a release.
    func settle(_ outcome: Release.Outcome, of origin: Origin, after cause: Release.Cause, pause: Duration) {
        state.withLock { $0.change(origin) { $0.underWay -= 1 } }
        switch outcome {
        case .succeeded:
            learn(of: origin) { recoveries, _ in recoveries[cause].succeeded() }
            succeeded(origin)
        case .failed: learn(of: origin) { $0[cause].failed(at: $1, pause: pause) }
        case .passesOn: release(1, from: origin, after: cause)
        case .untold: break
        }
    }

    /// Forgets recoveries that no longer matter, unless that was done in the last hour.
    private func forget() {
        // Usually nothing is known, and then we need not read the time.
        guard knownCount > 0 else { return }
        let now = clock.now
        state.withLock { $0.known.sweep(at: now.nanoseconds) { $0.isIdle(at: now) } }
    }

    private func learn(of origin: Origin, _ change: (inout Recoveries, Duration) -> Void) {
        let now = clock.now
        state.withLock { state in
            state.known.change(
                origin, at: now.nanoseconds, initially: Recoveries(), isIdle: { $0.isIdle(at: now) },
                by: { change(&$0, now) })
        }
    }

    /// - Parameter limit: While this many are under way, none is released.
    private func release(
        _ count: Int, from origin: Origin, after cause: Release.Cause, whileFewerThan limit: Int = .max
    ) {
        guard state.withLock({ $0.lines[origin]?.waiters.isEmpty == false }), mayRelease(from: origin, after: cause)
        else { return }
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
            let release = Release(self, of: origin, after: cause, pause: pause)
            if waiter(release) {
                left -= 1
            } else {
                // The wait of this request has just ended in another way.
                release.settle(.untold)
            }
        }
    }

    private func mayRelease(from origin: Origin, after cause: Release.Cause) -> Bool {
        let now = clock.now
        return state.withLock { $0.known.change(origin) { $0[cause].releases(at: now) } } ?? true
    }
}

/// The right of a request to end its wait for its host early. Its next attempt reports the outcome once.
///
/// If no attempt follows because the request was cancelled, the release is dropped without an outcome. Then the next
/// request in the line takes its place.
final class Release: Sendable {
    enum Cause {
        /// A success at the host.
        case success
        /// A sign that does not come from the host, such as a network that is back.
        case sign
    }

    enum Outcome {
        case succeeded
        /// The attempt failed by a fault of the host.
        case failed
        /// The attempt showed nothing about the host, or showed that it works. The next request takes its place.
        case passesOn
        /// No outcome will be reported, and no request takes its place.
        case untold
    }

    private let lines: RecoveryLines
    private let origin: Origin
    private let cause: Cause
    private let pause: Duration
    private let isSettled = Locked(false)

    init(_ lines: RecoveryLines, of origin: Origin, after cause: Cause, pause: Duration) {
        self.lines = lines
        self.origin = origin
        self.cause = cause
        self.pause = pause
    }

    deinit { settle(.passesOn) }

    /// Reports the outcome, unless one has been reported.
    func settle(_ outcome: Outcome) {
        let wasSettled = isSettled.withLock { isSettled in
            defer { isSettled = true }
            return isSettled
        }
        if !wasSettled { lines.settle(outcome, of: origin, after: cause, pause: pause) }
    }
}

/// Decides whether the successes of one host release requests that wait for it. A pure value. Times count from a fixed
/// start.
///
/// A host that has really recovered answers the released requests. A host that comes and goes does not. So each failed
/// release costs trust. Without trust, no release follows for a pause. If that soon happens again, the pause doubles
/// each time.
package struct HostRecoveries: Sendable {
    private enum Phase {
        /// Successes release requests, since this time.
        case open(trust: Int, since: Duration)
        /// Successes release no requests until this time.
        case closed(until: Duration)
    }

    private var phase = Phase.open(trust: Self.trustAtFirst, since: .zero)
    /// The last pause. Zero if there was none, or if it was long ago.
    private var pause = Duration.zero

    /// This is enough for one failed release, but not for two in a row.
    private static let trustAtFirst = 4
    /// A long recovery can survive four failures in a row.
    private static let mostTrust = 16
    /// What a failure costs, in successes. One of five releases may fail.
    private static let costOfFailure = 4
    /// The longest pause, as a multiple of the first one.
    private static let mostPauses = 20

    package init() {}

    /// Whether a success releases requests now.
    package mutating func releases(at now: Duration) -> Bool {
        guard case .closed(let end) = phase else { return true }
        guard now >= end else { return false }
        if isIdle(at: now) {
            self = HostRecoveries()
        } else {
            phase = .open(trust: 0, since: now)
        }
        return true
    }

    /// Records that a released request succeeded.
    package mutating func succeeded() {
        guard case .open(let trust, let since) = phase else { return }
        phase = .open(trust: min(trust + 1, Self.mostTrust), since: since)
    }

    /// Records that a released request failed by a fault of the host.
    ///
    /// - Parameter first: The length of a first pause.
    package mutating func failed(at now: Duration, pause first: Duration) {
        guard case .open(let trust, let since) = phase else { return }
        guard trust < Self.costOfFailure else {
            phase = .open(trust: trust - Self.costOfFailure, since: since)
            return
        }
        pause = isIdle(at: now) ? first : min(max(pause * 2, first), first * Self.mostPauses)
        phase = .closed(until: now + pause)
    }

    /// Whether the earlier pauses no longer matter, because the last one ended at least its own length ago.
    func isIdle(at now: Duration) -> Bool {
        switch phase {
        case .open(_, let since): pause == .zero || now - since >= pause
        case .closed(let end): now - end >= pause
        }
    }
}

/// An entry in a table that is made later, and that may have to be removed before it is made.
final class LaterEntry: Sendable {
    private enum State {
        case awaited
        case made(remove: @Sendable () -> Void)
        case ended

        var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    private let state = Locked(State.awaited)

    /// Makes the entry, unless `end()` came first. It is called once.
    ///
    /// - Parameter make: Makes the entry and returns the closure that removes it.
    func begin(_ make: () -> @Sendable () -> Void) {
        guard !state.withLock({ $0.isEnded }) else { return }
        let remove = make()
        let isEnded = state.withLock { state in
            if state.isEnded { return true }
            state = .made(remove: remove)
            return false
        }
        if isEnded { remove() }
    }

    /// Removes the entry, or prevents it from being made. It is called once.
    func end() {
        let former = state.withLock { state in
            defer { state = .ended }
            return state
        }
        if case .made(let remove) = former { remove() }
    }
}
