/// What a request does at a moment.
package enum RequestActivity: Sendable, Hashable {
    /// It has not been started: it waits for a place of its queue, or for other operations.
    case queued
    /// One of its stages runs, or a transfer.
    case running
    /// An attempt waits for a place of its queue, or for the slot of a limiter.
    case slot
    /// An attempt waits for a network, or because its host has asked to be left alone.
    case host
    /// It waits before a retry.
    case waiting(WaitReason)
    /// It has ended, or was stopped.
    case ended
}

extension RequestState {
    /// What the request does now.
    var activity: RequestActivity {
        switch phase {
        case .fresh: startDate == nil ? .queued : .running
        case .attempting:
            switch attempts.first?.activity {
            case .waits: .host
            case .stage(.slot): .slot
            case .stage, nil: .running
            }
        case .deciding: .running
        case .waiting(let wait, _): .waiting(wait.isForBudget ? .budget : waitReason ?? .backoff)
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
