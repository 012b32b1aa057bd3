/// The budget of one origin as a quota of tokens: each retry costs some, and a success brings them back. A pure value.
struct RetryQuota: Sendable {
    private let capacity: Int
    private(set) var tokens: Int

    /// A full quota.
    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Takes tokens, unless there are fewer.
    mutating func withdraw(_ cost: Int) -> Bool {
        guard tokens >= cost else { return false }
        tokens -= cost
        return true
    }

    /// Gives tokens back, up to the capacity. The sum could be more than an `Int` holds; what is missing never is.
    mutating func refund(_ count: Int) {
        tokens += min(count, capacity - tokens)
    }

    /// Whether it is as one that is newly made.
    var isFull: Bool { tokens == capacity }
}
