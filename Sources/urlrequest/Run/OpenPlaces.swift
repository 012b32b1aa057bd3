import RequestOperations

/// Limits the work between the input and the output: requests that wait or run, and results that are not printed yet.
///
/// One Task at a time takes places. Any thread may give them back.
struct OpenPlaces: Sendable {
    private struct State {
        var open: Int
        /// The Task that waits, and how many places it wants.
        var taker: (wanted: Int, turn: Answer<Void>)?

        /// Takes places, if enough are open.
        mutating func take(_ number: Int) -> Bool {
            guard open >= number else { return false }
            open -= number
            return true
        }
    }

    /// There are never fewer places than this. A request that waits for its host uses 11 KiB.
    static let fewest = 4000

    private let count: Int
    private let state: Locked<State>

    /// Makes places, all of them open.
    init(_ count: Int) {
        self.count = count
        state = Locked(State(open: count))
    }

    /// Takes places. It waits until there are enough.
    ///
    /// - Throws: `CancellationError` when the Task is cancelled during the wait. Then it has taken none.
    func take(_ number: Int) async throws {
        let turn: Answer<Void>? = state.withLock { state in
            guard !state.take(number) else { return nil }
            let turn = Answer<Void>()
            state.taker = (number, turn)
            return turn
        }
        guard let turn else { return }
        try await withTaskCancellationHandler {
            try await turn.value
        } onCancel: {
            state.withLock { $0.taker.take() }?.turn.resume(with: .failure(CancellationError()))
        }
    }

    /// Gives places back.
    func giveBack(_ number: Int) {
        let turn: Answer<Void>? = state.withLock { state in
            state.open += number
            guard let taker = state.taker, state.take(taker.wanted) else { return nil }
            state.taker = nil
            return taker.turn
        }
        turn?.resume(with: .success(()))
    }

    /// Waits until all places are open.
    func allOpen() async throws {
        try await take(count)
        giveBack(count)
    }
}
