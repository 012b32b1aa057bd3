/// The budget of one origin as a quota of tokens: each retry costs some, and a success brings them back. A pure value; times
/// are nanoseconds since some beginning.
///
/// Time brings no tokens back, with one exception: a quota that rested for ``HostMemory/longestRest`` is full again. So it need
/// not be kept for ever.
struct RetryQuota: Sendable {
    private let capacity: Int
    private var tokens: Int
    private var lastUse = Int64.min

    /// A full quota.
    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Takes tokens, unless there are fewer.
    mutating func withdraw(_ cost: Int, at now: Int64) -> Bool {
        tokens = tokens(at: now)
        lastUse = now
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    mutating func refund(_ count: Int, at now: Int64) {
        tokens = tokens(at: now)
        // What is missing bounds the sum, which else could overflow.
        tokens += min(count, capacity - tokens)
        lastUse = now
    }

    /// How many tokens there are.
    func tokens(at now: Int64) -> Int {
        now - HostMemory.longestRest >= lastUse ? capacity : tokens
    }

    /// Whether it is as one that is newly made.
    func isFull(at now: Int64) -> Bool { tokens(at: now) == capacity }
}
