/// An early-retry observer of this package. For each waiting request it costs an entry in a shared table, but no Task.
protocol TabledObserver: EarlyRetryObserver {
    /// Adds an entry for a wait.
    ///
    /// - Parameters:
    ///   - failure: The attempt that failed; `nil` before the first one.
    ///   - hosts: The registry with the lines of requests that wait for a host.
    ///   - hold: How long, from now on, nothing ends the wait.
    ///   - wake: Ends the wait, with the release of a retry. Returns whether the wait was still under way.
    /// - Returns: A closure that removes the entry. It is called once.
    func watch(
        after failure: AttemptFailure?, in hosts: HostRegistry, on clock: RequestClock, using random: RandomSource,
        holdingBack hold: Duration, _ wake: @escaping @Sendable (Release?) -> Bool
    ) -> @Sendable () -> Void
}

extension TabledObserver {
    /// Waits for the sign in a Task, for observers that are built on this one. It reports no outcome of the release.
    func waitInTask(after failure: AttemptFailure) async throws {
        let answer = Answer<Void>()
        let remove = watch(
            after: failure, in: failure.hosts, on: failure.hosts.clock, using: .system, holdingBack: .zero
        ) { release in
            let isFirst = answer.resume(with: .success(()))
            if isFirst { release?.settle(.untold) }
            return isFirst
        }
        defer { remove() }
        try await withTaskCancellationHandler {
            try await answer.value
        } onCancel: {
            answer.resume(with: .failure(CancellationError()))
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

/// An observer whose sign counts only after a delay. Until then the host is to be left alone, or there is no room for
/// the retry. If the inner observer is one of this package, this costs no Task, see ``RetryWait``.
struct HeldBackObserver: EarlyRetryObserver {
    let observer: any EarlyRetryObserver
    let delay: Duration

    func wait(after failure: AttemptFailure) async throws {
        try await wait(after: failure, on: failure.hosts.clock)
    }

    func wait(after failure: AttemptFailure, on clock: RequestClock) async throws {
        let end = clock.now + delay
        try await observer.wait(after: failure)
        let left = end - clock.now
        if left > .zero { try await clock.sleep(for: left) }
    }
}

extension EarlyRetryObserver {
    /// The name under which the observer is reported when it ends a wait.
    var name: String {
        switch self {
        case let heldBack as HeldBackObserver: heldBack.observer.name
        default: String(describing: type(of: self))
        }
    }
}
