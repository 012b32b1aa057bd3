/// Attempts that run in parallel.
extension RequestState {
    /// Whether the request goes on with an attempt, and neither it nor a hedge has failed or received a head.
    func awaitsAnswer(_ attempt: Int) -> Bool {
        guard case .attempting = phase, attempts.first?.number == attempt else { return false }
        return attempts.allSatisfy { log.runs($0.number) && $0.awaitsHead }
    }

    /// Begins a hedge that is about to be sent beside an attempt. Returns its number, or `nil` if that attempt no
    /// longer awaits its answer.
    mutating func beginHedge(
        _ task: TransportTask, holding rights: AttemptRights, drawing draw: RetryDraw? = nil, beside attempt: Int,
        at moment: Duration, on date: Date
    ) -> Int? {
        guard awaitsAnswer(attempt) else { return nil }
        let number = log.begin(on: date, at: elapsed(at: moment), isHedge: true)
        attempts.append(AttemptState(hedge: number, sending: task, rights: rights, draw: draw))
        return number
    }

    /// Makes the request go on with one of the attempts. The others have lost.
    ///
    /// - Returns: What the others hold. `nil` if there are no others.
    mutating func lead(_ attempt: Int, at moment: Duration) -> [AttemptRights]? {
        guard attempts.count > 1, let leader = attempts.first(where: { $0.number == attempt }) else { return nil }
        let lost = attempts.filter { $0.number != attempt }
        for loser in lost { log.end(loser.number, CancellationError(), at: elapsed(at: moment)) }
        attempts = [leader]
        return lost.map(\.rights)
    }
}
