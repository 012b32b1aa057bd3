/// A door that opens once. Code can wait for it to open.
package final class Door: Sendable {
    private struct State {
        var isOpen = false
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Locked(State())

    package init() {}

    /// Opens the door. A second call has no effect.
    package func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits until the door is open, even if the Task is cancelled.
    package func pass() async {
        _ = await withCheckedContinuation { enroll($0) }
    }

    /// Waits until the door is open or the time is over. Returns whether the door is open.
    package func isOpen(within limit: Duration) async -> Bool {
        var alarm: Task<Void, Never>?
        let isOpen = await withCheckedContinuation { waiter in
            guard let id = enroll(waiter) else { return }
            alarm = Task {
                // The sleep is cancelled only when no one waits any more.
                try? await Task.sleep(for: limit)
                self.expire(id)
            }
        }
        alarm?.cancel()
        return isOpen
    }

    /// Keeps a waiter and returns its number. If the door is open, resumes it at once and returns `nil`.
    @discardableResult
    private func enroll(_ waiter: CheckedContinuation<Bool, Never>) -> Int? {
        let id: Int? = state.withLock { state in
            guard !state.isOpen else { return nil }
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
