import RequestOperations

/// Keeps the order of the calls of `add`: an addition enters the store after earlier ones of its lanes and unique key.
///
/// A place is taken before anything waits, such as for the file of a long body. Additions that share nothing do not wait
/// for each other.
final class AddingOrder: Sendable {
    /// What keeps its order.
    enum Line: Hashable, Sendable {
        case lane(String)
        case key(String)
    }

    /// The last place of each line. A line without one is free.
    let last = Locked<[Line: AddingPlace]>([:])

    /// Runs an addition, which takes its place before the first suspension.
    ///
    /// - Parameter body: The addition. It waits for the turn of its place, and leaves the place when it has entered the
    ///   store. If it does neither, this function does.
    func take<Result>(
        _ lines: Set<Line>, _ body: (AddingPlace) async throws -> Result
    ) async throws -> Result {
        let place = last.withLock { last in
            let place = AddingPlace(behind: lines.compactMap { last[$0] })
            for line in lines { last[line] = place }
            return place
        }
        do {
            let result = try await body(place)
            await end(place, lines)
            return result
        } catch {
            await end(place, lines)
            throw error
        }
    }

    private func end(_ place: AddingPlace, _ lines: Set<Line>) async {
        // Later places wait only for the one before them. So a place stays until all earlier ones have left.
        await place.turn()
        place.leave()
        last.withLock { last in
            for line in lines where last[line] === place { last[line] = nil }
        }
    }
}

/// The place of one addition.
package final class AddingPlace: Sendable {
    private struct State {
        var earlier: [AddingPlace]
        var hasLeft = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Locked<State>

    init(behind earlier: [AddingPlace]) {
        state = Locked(State(earlier: earlier))
    }

    /// Returns when all before it have left their places.
    package func turn() async {
        for place in state.withLock({ $0.earlier }) { await place.left() }
        // A chain of places would stay in memory.
        state.withLock { $0.earlier = [] }
    }

    private func left() async {
        await withCheckedContinuation { continuation in
            let hasLeft = state.withLock { state in
                if !state.hasLeft { state.waiting.append(continuation) }
                return state.hasLeft
            }
            if hasLeft { continuation.resume() }
        }
    }

    /// Lets later additions go on. Only the first call counts.
    package func leave() {
        let waiting = state.withLock { state in
            state.hasLeft = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
