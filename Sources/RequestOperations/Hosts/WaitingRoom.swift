/// The requests that wait for one host to recover, in order of arrival. A pure value. Times are in nanoseconds since a
/// fixed start.
///
/// Successes advance the queue, as acknowledgements advance TCP's slow start (RFC 5681, section 3.1). Each success
/// releases two waiting requests. So two start after the first success, then four, then eight. A host that fails again
/// gives no successes, so its queue stops.
struct WaitingRoom {
    /// Ends the wait of a released request. Returns whether the wait was still under way.
    typealias Waiter = @Sendable (Release) -> Bool

    enum News {
        /// A request to the host succeeded.
        case success
        /// A sign that does not come from the host, such as a network that is back. Equal numbers are one sign, and a
        /// later sign has a higher number.
        case sign(Int)
        case outcome(Release.Outcome, of: Release.Cause)

        /// Why the room releases requests.
        var cause: Release.Cause {
            switch self {
            case .success, .outcome(.succeeded, _): .success
            case .sign: .sign
            case .outcome(_, let cause): cause
            }
        }
    }

    private struct Place: Comparable {
        let due: Int64
        let number: UInt64

        static func < (first: Place, second: Place) -> Bool {
            (first.due, first.number) < (second.due, second.number)
        }
    }

    private var waiters: [UInt64: Waiter] = [:]
    /// The places of requests that left stay until they come up, or until they are the majority.
    private var queue = Heap<Place>()
    private var nextNumber: UInt64
    private var doubt = RecoveryDoubt()
    /// The last sign, and how many requests it may still release.
    private var sign = (number: Int.min, tries: 0)
    private var lastUse = Int64.min

    /// How many requests a success releases. A sign releases as many in all.
    private static let released = 2

    init(firstNumber: UInt64) {
        nextNumber = firstNumber
    }

    var count: Int { waiters.count }

    /// Whether no request waits, and for an hour no request came and no released request failed.
    func isIdle(at now: Int64) -> Bool { waiters.isEmpty && now - HostMemory.sweepInterval >= lastUse }

    /// Adds a request that is not released before it is due. Returns its number.
    mutating func add(_ waiter: @escaping Waiter, due: Int64, at now: Int64) -> UInt64 {
        defer { nextNumber &+= 1 }
        waiters[nextNumber] = waiter
        queue.push(Place(due: due, number: nextNumber))
        lastUse = now
        return nextNumber
    }

    mutating func remove(_ number: UInt64) -> Waiter? {
        let waiter = waiters.removeValue(forKey: number)
        if queue.count > 2 * waiters.count + 16 { queue.removeAll { [waiters] in waiters[$0.number] == nil } }
        return waiter
    }

    /// Returns the requests to wake.
    mutating func hear(_ news: News, at now: Int64) -> [Waiter] {
        switch news {
        case .success:
            guard isDue(at: now), doubt.releases(at: now) else { return [] }
            return (0..<Self.released).compactMap { _ in next(at: now) }
        case .sign(let number):
            if number > sign.number { sign = (number, Self.released) }
            guard sign.tries > 0, let next = next(at: now) else { return [] }
            sign.tries -= 1
            return [next]
        case .outcome(.succeeded, let cause):
            if cause == .success { doubt.succeeded() }
            return hear(.success, at: now)
        case .outcome(.failed, let cause):
            // A try after a sign may have come too early. It says nothing about the releases after a success.
            if cause == .success { doubt.failed(at: now) }
            lastUse = now
            return []
        case .outcome(.passesOn, _):
            return next(at: now).map { [$0] } ?? []
        }
    }

    private mutating func isDue(at now: Int64) -> Bool {
        while let first = queue.first, waiters[first.number] == nil { _ = queue.popFirst() }
        return queue.first.map { $0.due <= now } ?? false
    }

    private mutating func next(at now: Int64) -> Waiter? {
        isDue(at: now) ? queue.popFirst().flatMap { waiters.removeValue(forKey: $0.number) } : nil
    }
}

/// Whether the successes of a host still release requests that wait for it. A pure value. Times are in nanoseconds
/// since a fixed start.
///
/// A host that has really recovered answers the released requests. A host that serves others but not these does not. So
/// each round of releases with a failure doubles the number of successes until the next one, and each release that
/// succeeds halves it. It is forgotten an hour after the last failure.
package struct RecoveryDoubt: Sendable {
    /// One release follows this many successes.
    private var successes: Int64 = 1
    /// How many successes must come before the next success releases a request.
    private var owed: Int64 = 0
    private var lastFailure = Int64.min

    package init() {}

    /// Records a success. Returns whether it releases requests.
    package mutating func releases(at now: Int64) -> Bool {
        if now - HostMemory.sweepInterval >= lastFailure { self = RecoveryDoubt() }
        guard owed > 0 else { return true }
        owed -= 1
        return false
    }

    /// Records that a released request succeeded.
    package mutating func succeeded() {
        successes = max(successes / 2, 1)
        owed = min(owed, successes - 1)
    }

    /// Records that a released request failed by a fault of the host. Other requests that were released with it no
    /// longer count.
    package mutating func failed(at now: Int64) {
        defer { lastFailure = now }
        guard owed == 0 else { return }
        successes = min(successes * 2, 1 << 40)
        owed = successes - 1
    }
}

/// The right of a request to end its wait for its host early. Its next attempt reports the outcome once.
///
/// If no attempt follows because the request was cancelled, the release is dropped without an outcome. Then the next
/// waiting request takes its place.
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
    }

    private let hosts: HostRegistry
    private let origin: Origin
    private let cause: Cause
    private let isFinished = Locked(false)

    init(of origin: Origin, after cause: Cause, in hosts: HostRegistry) {
        (self.hosts, self.origin, self.cause) = (hosts, origin, cause)
    }

    deinit { finish(.passesOn) }

    /// Reports the outcome, unless one has been reported.
    ///
    /// - Parameter outcome: `nil` if there will be none, and no request takes its place.
    func finish(_ outcome: Outcome?) {
        let wasFinished = isFinished.withLock { isFinished in
            defer { isFinished = true }
            return isFinished
        }
        if !wasFinished, let outcome { hosts.report(.outcome(outcome, of: cause), to: origin) }
    }
}
