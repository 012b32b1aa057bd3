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

    mutating func refund(_ count: Int) {
        tokens = min(tokens + count, capacity)
    }

    /// Whether it is as one that is newly made.
    var isFull: Bool { tokens == capacity }
}
