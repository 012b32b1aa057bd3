/// The wait before another attempt. The backoff, early-retry observers and `retryNow()` race, and the first one ends
/// the wait.
///
/// On the real clock, a wait costs one entry in the heap of deadlines, plus one in a table for each observer of this
/// package. Only other observers cost a Task.
final class RetryWait: Sendable {
    /// What ended a wait.
    struct Ending: Sendable {
        let reason: WakeReason
        /// The release of a retry that starts before its time.
        var release: Release?
    }

    private let answer = Answer<Ending>()

    /// Ends the wait, unless it is already over. Returns whether this call ended it.
    @discardableResult
    func wake(_ reason: WakeReason, by release: Release? = nil) -> Bool {
        answer.resume(with: .success(Ending(reason: reason, release: release)))
    }

    /// The participants in one race.
    struct Runners: Sendable {
        fileprivate let all: [Runner]

        func stop() {
            for runner in all { runner.stop() }
        }
    }

    /// Begins the race. It is called once. The caller must call ``Runners/stop()`` when the race ends.
    ///
    /// - Parameter failure: What the observers are told. Before a first attempt it is `nil`, and then only the
    ///   observers of this package take part.
    func begin(
        _ delay: Duration, or observers: [any EarlyRetryObserver], after failure: AttemptFailure?,
        in hosts: HostRegistry, clock: RequestClock, random: RandomSource = .system
    ) -> Runners {
        // The observers come first. A test that sees this wait on the clock can then rely on their watching.
        var runners = observers.compactMap { watch($0, after: failure, in: hosts, clock: clock, random: random) }
        runners.append(.alarm(clock.alarm(after: max(delay, .zero)) { self.wake(.backoff) }))
        return Runners(all: runners)
    }

    /// Ends the wait as cancelled, unless it is over.
    func cancel() {
        answer.resume(with: .failure(CancellationError()))
    }

    /// Calls a listener when the wait is over, on the thread that ends it. It is called once, before ``winner`` is
    /// awaited.
    func whenOver(_ listener: @escaping @Sendable () -> Void) {
        answer.whenGiven(listener)
    }

    /// What ends the wait. It is awaited once.
    ///
    /// - Throws: `CancellationError`, at once when the Task is cancelled. It does not wait for the observers.
    var winner: Ending {
        get async throws {
            try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                cancel()
            }
        }
    }

    fileprivate enum Runner {
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
        _ observer: any EarlyRetryObserver, after failure: AttemptFailure?, in hosts: HostRegistry, clock: RequestClock,
        random: RandomSource
    ) -> Runner? {
        let heldBack = observer as? HeldBackObserver
        guard let tabled = (heldBack?.observer ?? observer) as? any TabledObserver else {
            guard let failure else { return nil }
            return .task(
                Task {
                    // An observer that throws, or returns after the end, has no effect.
                    let isSign =
                        if let heldBack {
                            (try? await heldBack.wait(after: failure, on: clock)) != nil
                        } else {
                            (try? await observer.wait(after: failure)) != nil
                        }
                    guard isSign, !Task.isCancelled else { return }
                    wake(.observer(observer.name))
                })
        }
        return .entry(
            remove: tabled.watch(
                after: failure, in: hosts, on: clock, using: random, holdingBack: heldBack?.delay ?? .zero
            ) {
                self.wake(.observer(tabled.name), by: $0)
            })
    }
}
