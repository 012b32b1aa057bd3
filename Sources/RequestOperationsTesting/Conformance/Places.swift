/// A number of places. Callers that wait get them in the order in which they came.
final class Places: Sendable {
    private struct State {
        var free: Int
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func takeThoseWhoFit() -> [CheckedContinuation<Void, Never>] {
            var fitting: [CheckedContinuation<Void, Never>] = []
            while let first = waiters.first, first.count <= free {
                free -= first.count
                fitting.append(waiters.removeFirst().continuation)
            }
            return fitting
        }
    }

    private let state: Locked<State>

    init(_ count: Int) {
        state = Locked(State(free: count))
    }

    /// Waits until `count` places are free at the same time. No one overtakes.
    func take(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let fitting = state.withLock { state in
                state.waiters.append((count, continuation))
                return state.takeThoseWhoFit()
            }
            for continuation in fitting { continuation.resume() }
        }
    }

    func give(_ count: Int) {
        let fitting = state.withLock { state in
            state.free += count
            return state.takeThoseWhoFit()
        }
        for continuation in fitting { continuation.resume() }
    }
}
