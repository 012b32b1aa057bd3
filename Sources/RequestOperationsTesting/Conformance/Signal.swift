/// Something that happens once, for those who wait for it.
final class Signal: Sendable {
    private struct State {
        var isGiven = false
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Locked(State())

    /// Says that it has happened. Has no effect the second time.
    func give() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isGiven = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits until it happens, whether the Task is cancelled or not.
    func wait() async {
        _ = await withCheckedContinuation { enroll($0) }
    }

    /// Whether it has happened, or happens within a time.
    func isGiven(within limit: Duration) async -> Bool {
        var alarm: Task<Void, Never>?
        let isGiven = await withCheckedContinuation { waiter in
            guard let id = enroll(waiter) else { return }
            alarm = Task {
                // The sleep is cancelled only when nobody waits any more.
                try? await Task.sleep(for: limit)
                self.expire(id)
            }
        }
        alarm?.cancel()
        return isGiven
    }

    /// Keeps a waiter under a number, or resumes it at once.
    @discardableResult
    private func enroll(_ waiter: CheckedContinuation<Bool, Never>) -> Int? {
        let id: Int? = state.withLock { state in
            guard !state.isGiven else { return nil }
            state.lastID += 1
            state.waiters[state.lastID] = waiter
            return state.lastID
        }
        if id == nil { waiter.resume(returning: true) }
        return id
    }

    private func expire(_ id: Int) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
    }
}

/// A number of places, given to those who wait in their order.
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

    /// Waits for so many places at once; nobody overtakes.
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

/// Runs a function on a Task of its own; throws if it has not ended within a time, when it is cancelled and left alone.
func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
    let ended = Signal()
    let task = Task {
        defer { ended.give() }
        try await body()
    }
    let endedInTime = await withTaskCancellationHandler {
        await ended.isGiven(within: limit)
    } onCancel: {
        task.cancel()
    }
    guard endedInTime else {
        task.cancel()
        throw ConformanceFailure("It had not ended after \(limit).")
    }
    try await task.value
}

/// How long a function took.
func duration(of body: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await body()
    return start.duration(to: .now)
}
