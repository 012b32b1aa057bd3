extension RequestEvent: CustomStringConvertible, CustomReflectable {
    /// One line: the id of the request, the step, and for a wait the reason.
    public var description: String { "request \(id): \(step)" + (waitReason.map { " (\($0))" } ?? "") }

    /// No children, so that `dump` shows the same line.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension RequestEvent.Step: CustomStringConvertible, CustomReflectable {
    /// One line. It shows scheme, host, port and path of a URL, and the status of a head. Of an error that is not ours
    /// it shows only the type.
    public var description: String {
        switch self {
        case .began: "began"
        case .attemptBegan(let attempt): "attempt \(attempt) began"
        case .hedgeBegan(let attempt): "attempt \(attempt) began as a hedge"
        case .notHedged(let refusal): "not hedged: \(refusal)"
        case .hedgeDecided(let attempt): "goes on with attempt \(attempt)"
        case .waitsForSlot: "waits for a slot"
        case .gotSlot(let waited): "got a slot after \(waited)"
        case .redirected(let source, let target):
            "redirected from \(Redaction.location(of: source)) to \(Redaction.location(of: target))"
        case .head(let head): "head: \(head)"
        case .attemptFailed(let failure): "failed: \(failure)"
        case .decided(let decision): "decided: \(decision)"
        case .waitsForConnectivity: "waits for a network"
        case .waits(let delay): "waits \(delay)"
        case .woke(let reason): "woke: \(reason)"
        case .uploadRefused(let status): "the stored upload was refused (status \(status)) and is created anew"
        case .abandoned(let stage): "left \(stage.rawValue) behind"
        case .ended(let error?): "ended: \(error.redacted)"
        case .ended(nil): "ended: success"
        }
    }

    /// No children, so that `dump` shows the same line.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

extension WaitReason: CustomStringConvertible {
    /// `backoff`, `budget`, `Retry-After` or `circuit`.
    public var description: String {
        switch self {
        case .backoff: "backoff"
        case .budget: "budget"
        case .retryAfter: "Retry-After"
        case .circuit: "circuit"
        }
    }
}

extension WakeReason: CustomStringConvertible {
    /// `backoff`, `retryNow`, or the name of the observer's type.
    public var description: String {
        switch self {
        case .backoff: "backoff"
        case .observer(let name): name
        case .retryNow: "retryNow"
        }
    }
}

extension Hedging.Refusal: CustomStringConvertible, CustomReflectable {
    /// Why there was no hedge, as a phrase.
    public var description: String {
        switch self {
        case .notRepeatable: "the request is not one that is hedged"
        case .tooLate: "the elapsed limit has passed"
        case .hostLeftAlone: "the host asked to be left alone"
        case .noSlot: "no slot is free"
        case .circuitOpen: "the circuit is open"
        case .budgetExhausted: "the retry budget has no room"
        case .failed(let error): error.redacted
        }
    }

    /// No children, so that `dump` does not show the error of a stage.
    public var customMirror: Mirror { Mirror(opaque: self) }
}
