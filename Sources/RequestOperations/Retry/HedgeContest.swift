/// Decides which of several parallel attempts gives the answer. A pure value. It uses ids of its own, because a hedge
/// gets its attempt number only when it is sent. The first attempt has the id 0.
struct HedgeContest {
    /// A failure that is not yet the result, because another attempt may still give an answer.
    struct Failed {
        let id: Int
        let error: any Error
        let weight: Weight
    }

    /// How much a failure tells us, in ascending order.
    enum Weight: Int {
        case noResponse
        case response
        case retryAfter
    }

    private enum Phase {
        /// No attempt has answered yet. The value lists those that failed.
        case open([Failed])
        case won(by: Int)
        /// The request was cancelled.
        case cancelled
        /// All attempts failed, or one failed in a way that is final.
        case lost
    }

    /// What happens after an attempt ended.
    enum Verdict {
        /// Nothing: other attempts still run, or another one has already answered.
        case goesOn
        /// The result of this attempt is the answer.
        case answers
        /// The request fails with this failure. It may be that of another attempt.
        case fails(Failed)
        /// The request was cancelled, and this was the last attempt.
        case cancelled
    }

    private var phase = Phase.open([])
    private var running: Set<Int> = [0]

    /// Whether an attempt can still join: none has failed or won.
    var isOpen: Bool {
        if case .open(let failed) = phase { failed.isEmpty } else { false }
    }

    /// Whether the outcome is settled: an attempt won, all are lost, or the request was cancelled.
    var isDecided: Bool {
        if case .open = phase { false } else { true }
    }

    func isWon(by id: Int) -> Bool {
        if case .won(id) = phase { true } else { false }
    }

    /// Adds a hedge that is about to be sent. Returns `false` if it must not be sent.
    mutating func join(_ id: Int) -> Bool {
        guard isOpen else { return false }
        running.insert(id)
        return true
    }

    /// Records that an attempt's response head was accepted. Returns whether that attempt goes on with its body.
    mutating func win(_ id: Int) -> Bool {
        guard case .open = phase, running.contains(id) else { return false }
        phase = .won(by: id)
        return true
    }

    mutating func cancel() -> Verdict {
        phase = .cancelled
        return running.isEmpty ? .cancelled : .goesOn
    }

    /// Records that an attempt ended with an answer, or that a losing attempt ended.
    mutating func end(_ id: Int) -> Verdict {
        let wasRunning = running.remove(id) != nil
        switch phase {
        case .won(id) where wasRunning: return .answers
        case .cancelled where wasRunning && running.isEmpty: return .cancelled
        case .open(let failed): return verdict(on: failed)
        case .won, .cancelled, .lost: return .goesOn
        }
    }

    /// Records that an attempt failed.
    ///
    /// - Parameter isFinal: Whether the failure is final and so ends the contest.
    mutating func fail(_ failure: Failed, isFinal: Bool) -> Verdict {
        guard case .open(var failed) = phase, running.remove(failure.id) != nil else { return end(failure.id) }
        guard !isFinal else {
            phase = .lost
            return .fails(failure)
        }
        failed.append(failure)
        return verdict(on: failed)
    }

    /// Records the failure of the only attempt, as without hedging. Returns `nil` and changes nothing if another
    /// attempt runs or has failed, or if the outcome is settled.
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
