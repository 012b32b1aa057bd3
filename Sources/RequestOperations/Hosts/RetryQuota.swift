/// The retry budget of one origin, as a quota of tokens. Each retry costs tokens, and a success brings them back. A
/// pure value. Times are in nanoseconds since a fixed start.
///
/// Time alone brings no tokens back, with one exception. A quota that was not used for ``HostMemory/longestRest`` is
/// full again, so it need not be kept forever.
struct RetryQuota: Sendable {
    private let capacity: Int
    private var tokens: Int
    private var lastUse = Int64.min

    /// A full quota.
    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Takes tokens. Returns `false`, and takes none, if there are too few.
    mutating func withdraw(_ cost: Int, at now: Int64) -> Bool {
        tokens = tokens(at: now)
        lastUse = now
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    mutating func refund(_ count: Int, at now: Int64) {
        tokens = tokens(at: now)
        // We add at most the missing tokens, because the sum could overflow otherwise.
        tokens += min(count, capacity - tokens)
        lastUse = now
    }

    /// How many tokens there are.
    func tokens(at now: Int64) -> Int {
        now - HostMemory.longestRest >= lastUse ? capacity : tokens
    }

    /// Whether the quota is full, like a new one.
    func isFull(at now: Int64) -> Bool { tokens(at: now) == capacity }
}
