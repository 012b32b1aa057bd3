/// What a request waits for.
public enum RequestWait: String, Sendable, Hashable, CaseIterable {
    /// It was not begun: it waits for a place of its queue, for dependencies or for conditions.
    case queue
    /// An attempt waits for a slot of a limiter, or for a place of its queue.
    case slot
    /// An attempt waits for a network, or because its host has asked to be left alone.
    case host
    /// It waits for its backoff before a retry.
    case backoff
    /// It waits until its ``RetryBudget`` has room for the retry.
    case budget
    /// It waits before a retry because of a `Retry-After`.
    case retryAfter = "retry_after"
    /// It waits before a retry for the circuit of its host.
    case circuit

    /// The wait before a retry.
    package init(_ reason: WaitReason) {
        self =
            switch reason {
            case .backoff: .backoff
            case .budget: .budget
            case .retryAfter: .retryAfter
            case .circuit: .circuit
            }
    }
}

/// What a request does at a moment.
package enum RequestActivity: Sendable, Hashable {
    /// One of its stages runs, or a transfer.
    case running
    case waiting(RequestWait)
    /// It has ended, or was stopped.
    case ended
}

extension RequestState {
    /// What the request does now.
    var activity: RequestActivity {
        switch phase {
        case .fresh: startDate == nil ? .waiting(.queue) : .running
        case .attempting:
            switch attempts.first?.activity {
            case .waits: .waiting(.host)
            case .stage(.slot): .waiting(.slot)
            case .stage, nil: .running
            }
        case .deciding: .running
        case .waiting(let wait, _): .waiting(wait.isForBudget ? .budget : waitReason.map(RequestWait.init) ?? .backoff)
        case .stopped, .abandoned: .ended
        }
    }
}

extension RetryWait {
    fileprivate var isForBudget: Bool { if case .budget = purpose { true } else { false } }
}

extension RetryingOperation {
    /// What the operation does now, and the scheme, host and port of its request.
    package final var activity: (now: RequestActivity, origin: String) {
        runner.requestState.withLock { ($0.activity, Origin($0.original.value.url).text) }
    }
}
