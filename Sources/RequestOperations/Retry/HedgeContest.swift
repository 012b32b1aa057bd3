/// Which of the attempts that run beside each other has the answer: a pure value. Attempts have ids here, since a hedge has its
/// number only when it is sent; that of the first is 0.
struct HedgeContest {
    /// A failure that is no answer as long as another attempt runs.
    struct Failed {
        let id: Int
        let error: any Error
        let weight: Weight
    }

    /// What a failure tells, in ascending order.
    enum Weight: Int {
        case noResponse
        case response
        case retryAfter
    }

    private enum Phase {
        /// Nobody has the answer; those that failed.
        case open([Failed])
        case won(by: Int)
        /// The request was cancelled.
        case cancelled
        /// All failed, or one for good.
        case lost
    }

    /// What follows from the end of an attempt.
    enum Verdict {
        /// Others are awaited, or have the answer.
        case goesOn
        /// How the attempt ended is the answer.
        case answers
        /// The failure of this attempt, which may be another, is the answer.
        case fails(Failed)
        /// The request was cancelled, and this was the last attempt.
        case cancelled
    }

    private var phase = Phase.open([])
    private var running: Set<Int> = [0]

    /// Whether an attempt can still join.
    var isOpen: Bool {
        if case .open(let failed) = phase { failed.isEmpty } else { false }
    }

    /// Whether it is clear what the request goes on with.
    var isDecided: Bool {
        if case .open = phase { false } else { true }
    }

    func isWon(by id: Int) -> Bool {
        if case .won(id) = phase { true } else { false }
    }

    /// A hedge is about to be sent; whether it may be.
    mutating func join(_ id: Int) -> Bool {
        guard isOpen else { return false }
        running.insert(id)
        return true
    }

    /// A head was accepted; whether the attempt goes on with its body.
    mutating func win(_ id: Int) -> Bool {
        guard case .open = phase, running.contains(id) else { return false }
        phase = .won(by: id)
        return true
    }

    mutating func cancel() -> Verdict {
        phase = .cancelled
        return running.isEmpty ? .cancelled : .goesOn
    }

    /// An attempt ended with an answer, or one that lost did.
    mutating func end(_ id: Int) -> Verdict {
        let wasRunning = running.remove(id) != nil
        switch phase {
        case .won(id) where wasRunning: return .answers
        case .cancelled where wasRunning && running.isEmpty: return .cancelled
        case .open(let failed): return verdict(on: failed)
        case .won, .cancelled, .lost: return .goesOn
        }
    }

    /// An attempt failed.
    ///
    /// - Parameter isFinal: Whether that is an answer.
    mutating func fail(_ failure: Failed, isFinal: Bool) -> Verdict {
        guard case .open(var failed) = phase, running.remove(failure.id) != nil else { return end(failure.id) }
        guard !isFinal else {
            phase = .lost
            return .fails(failure)
        }
        failed.append(failure)
        return verdict(on: failed)
    }

    /// An attempt failed: what follows if there is no other, as without hedging; else `nil`, and nothing was changed.
    mutating func failAlone(_ id: Int, _ error: any Error) -> Verdict? {
        guard isOpen, running == [id] else { return nil }
        return fail(Failed(id: id, error: error, weight: .noResponse), isFinal: true)
    }

    private mutating func verdict(on failed: [Failed]) -> Verdict {
        phase = .open(failed)
        let decisive = failed.max { ($0.weight.rawValue, -$0.id) < ($1.weight.rawValue, -$1.id) }
        guard running.isEmpty, let decisive else { return .goesOn }
        phase = .lost
        return .fails(decisive)
    }
}
