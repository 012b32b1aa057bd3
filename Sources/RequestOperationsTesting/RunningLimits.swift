/// The limits of an operation that can be sleepers while it works.
struct RunningLimits {
    /// Whether the operation has a deadline.
    var hasDeadline = false
    /// The lengths of the other limits. Each limit is at most one sleeper.
    var lengths: [Duration] = []

    /// How many sleepers of the given lengths are not limits.
    func countOfWaits(among sleepers: [Duration]) -> Int {
        var rest = sleepers
        for length in lengths {
            if let index = rest.firstIndex(of: length) { rest.remove(at: index) }
        }
        return rest.count - (hasDeadline ? 1 : 0)
    }
}
