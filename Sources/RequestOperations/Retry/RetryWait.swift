/// The wait before another attempt. The backoff, early-retry observers and `retryNow()` race, and the first one ends
/// the wait.
///
/// On the real clock, a wait costs one entry in the heap of deadlines, plus one in a table for each observer of this
/// package. Only other observers cost a Task.
final class RetryWait: StepWait {
    /// What the wait is for.
    enum Purpose: Sendable {
        /// A retry, or the host of an attempt that was not sent yet.
        case attempt
        /// Room in the retry budget, after the wait that ended with this wake.
        indirect case budget(after: Wake)
    }

    /// What ended a wait.
    private struct Ending: Sendable {
        let reason: WakeReason
        let release: Release?
    }

    let purpose: Purpose
    private let clock: RequestClock
    private let began: Duration
    private let knownEnd: Duration
    private enum Race {
        case notBegun
        /// What may end the wait.
        case begun([Participant])
        case over

        var isNotBegun: Bool {
            if case .notBegun = self { true } else { false }
        }
    }

    private struct State {
        var race = Race.notBegun
        var tabledObservers: [any EarlyRetryObserver]
    }

    private let state: Locked<State>
    private let answer = Answer<Ending>()

    /// Makes a wait that begins now. The race begins with ``begin(_:or:after:in:random:)``.
    ///
    /// - Parameters:
    ///   - purpose: What the wait is for. A retry by default.
    ///   - knownEnd: How long the host must be left alone, as far as that is known now. Zero by default.
    ///   - observers: The observers that the retry decision named. None by default.
    ///   - clock: The clock of the wait.
    init(
        for purpose: Purpose = .attempt, knownEnd: Duration = .zero, observers: [any EarlyRetryObserver] = [],
        on clock: RequestClock
    ) {
        self.purpose = purpose
        self.knownEnd = knownEnd
        state = Locked(State(tabledObservers: Self.tabled(observers)))
        self.clock = clock
        began = clock.now
    }

    /// The observers of this package that take part. They may also end a second wait, for the budget.
    var tabledObservers: [any EarlyRetryObserver] { state.withLock { $0.tabledObservers } }

    private static func tabled(_ observers: [any EarlyRetryObserver]) -> [any EarlyRetryObserver] {
        // Usually all are of this package. Then no array is made.
        observers.allSatisfy { $0 is any TabledObserver } ? observers : observers.filter { $0 is any TabledObserver }
    }

    /// Begins the race, unless ``replace(_:or:after:in:random:)`` came first.
    ///
    /// - Parameter failure: The failure that the observers get. Before a first attempt it is `nil`, and then only the
    ///   observers of this package take part.
    func begin(
        _ delay: Duration, or observers: [any EarlyRetryObserver] = [], after failure: AttemptFailure? = nil,
        in hosts: HostRegistry, random: RandomSource = .system
    ) {
        // A delay of zero must not end a wait that was replaced.
        guard state.withLock({ $0.race.isNotBegun }) else { return }
        let all = participants(delay, observers, after: failure, in: hosts, random)
        let unneeded = state.withLock { state in
            guard state.race.isNotBegun else { return all }
            state.race = .begun(all)
            return []
        }
        for participant in unneeded { participant.stop() }
    }

    /// Replaces everything that takes part in the race, unless the wait is over. Returns `false` if it is.
    func replace(
        _ delay: Duration, or observers: [any EarlyRetryObserver] = [], after failure: AttemptFailure? = nil,
        in hosts: HostRegistry, random: RandomSource = .system
    ) -> Bool {
        let all = participants(delay, observers, after: failure, in: hosts, random)
        let tabled = Self.tabled(observers)
        let (unneeded, isOver) = state.withLock { state in
            var former: [Participant] = []
            switch state.race {
            case .notBegun: break
            case .begun(let participants): former = participants
            case .over: return (all, true)
            }
            state.race = .begun(all)
            state.tabledObservers = tabled
            return (former, false)
        }
        for participant in unneeded { participant.stop() }
        return !isOver
    }

    private func participants(
        _ delay: Duration, _ observers: [any EarlyRetryObserver], after failure: AttemptFailure?,
        in hosts: HostRegistry,
        _ random: RandomSource
    ) -> [Participant] {
        // The observers come first. A test that sees this wait on the clock can then rely on their watching.
        var all: [Participant] = []
        all.reserveCapacity(observers.count + 1)
        for observer in observers {
            if let one = watch(observer, after: failure, in: hosts, random: random) { all.append(one) }
        }
        all.append(.alarm(clock.alarm(after: max(delay, .zero)) { self.end(with: .backoff) }))
        return all
    }

    /// Ends the wait, unless it is already over. Returns whether this call ended it.
    @discardableResult
    func end(with reason: WakeReason, by release: Release? = nil) -> Bool {
        answer.resume(with: .success(Ending(reason: reason, release: release)))
    }

    /// Ends the wait as cancelled, unless it is over.
    func cancel() {
        answer.resume(with: .failure(CancellationError()))
    }

    /// Calls a listener when the wait is over, on the thread that ends it. It is called once, before ``wake`` is
    /// awaited.
    func whenOver(_ listener: @escaping @Sendable () -> Void) {
        answer.whenGiven(listener)
    }

    /// What ended the wait. It is awaited once, and then nothing watches any longer.
    ///
    /// - Throws: `CancellationError`, at once when the Task is cancelled. It does not wait for the observers.
    var wake: Wake {
        get async throws {
            defer { stopParticipants() }
            let ending = try await answer.cancellableValue()
            return Wake(
                waited: clock.now - began, reason: ending.reason, knownEnd: knownEnd, release: ending.release)
        }
    }

    private func stopParticipants() {
        let last = state.withLock { state in
            defer { state.race = .over }
            return state.race
        }
        guard case .begun(let participants) = last else { return }
        for participant in participants { participant.stop() }
    }

    /// What may end the wait.
    private enum Participant {
        case alarm(Alarm)
        case entry(remove: @Sendable () -> Void)
        case task(Task<Void, Never>)

        func stop() {
            switch self {
            case .alarm(let alarm): alarm.cancel()
            case .entry(let remove): remove()
            case .task(let task): task.cancel()
            }
        }
    }

    private func watch(
        _ observer: any EarlyRetryObserver, after failure: AttemptFailure?, in hosts: HostRegistry, random: RandomSource
    ) -> Participant? {
        let delayed = observer as? DelayedObserver
        guard let tabled = (delayed?.observer ?? observer) as? any TabledObserver else {
            guard let failure else { return nil }
            return .task(
                Task { [clock] in
                    // An observer that throws, or returns after the end, has no effect.
                    let isSign =
                        if let delayed {
                            (try? await delayed.wait(after: failure, on: clock)) != nil
                        } else {
                            (try? await observer.wait(after: failure)) != nil
                        }
                    guard isSign, !Task.isCancelled else { return }
                    end(with: .observer(observer.name))
                })
        }
        return .entry(
            remove: tabled.watch(
                for: Origin(failure?.request.url), in: hosts, on: clock, using: random,
                notBefore: delayed?.delay ?? .zero
            ) { [name = tabled.name] release in
                // Only a release needs no room in the budget.
                if case .budget = self.purpose, release == nil { return false }
                return self.end(with: .observer(name), by: release)
            })
    }
}

/// What ended a wait, and how long the wait was.
struct Wake: Sendable {
    let waited: Duration
    let reason: WakeReason
    /// How long the host was to be left alone, as far as that was known when the wait began.
    let knownEnd: Duration
    /// The release of a retry that starts before its time, because its host has recovered.
    var release: Release?

    /// This wait after another one, as one wait.
    func following(_ first: Wake) -> Wake {
        Wake(
            waited: first.waited + waited, reason: reason == .backoff ? first.reason : reason, knownEnd: first.knownEnd,
            release: release)
    }
}
