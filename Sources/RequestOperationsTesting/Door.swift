/// A door that opens once, for those that wait before it.
package final class Door: Sendable {
    private struct State {
        var isOpen = false
        var lastID = 0
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = Locked(State())

    package init() {}

    /// Has no effect the second time.
    package func open() {
        let waiters = state.withLock { state in
            defer { state.waiters = [:] }
            state.isOpen = true
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits until the door is open, whether the Task is cancelled or not.
    package func pass() async {
        _ = await withCheckedContinuation { enroll($0) }
    }

    /// Whether the door is open, or opens within a time.
    package func isOpen(within limit: Duration) async -> Bool {
        var alarm: Task<Void, Never>?
        let isOpen = await withCheckedContinuation { waiter in
            guard let id = enroll(waiter) else { return }
            alarm = Task {
                // The sleep is cancelled only when nobody waits any more.
                try? await Task.sleep(for: limit)
                self.expire(id)
            }
        }
        alarm?.cancel()
        return isOpen
    }

    /// Keeps a waiter under a number, or resumes it at once.
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
