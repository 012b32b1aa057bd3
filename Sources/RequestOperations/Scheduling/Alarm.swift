/// One alarm that a ``RequestClock`` was set to.
enum Alarm: Sendable {
    case entry(DeadlineHeap.Entry)
    case sleeper(Task<Void, Never>)

    /// Has it not ring, unless it does already.
    func cancel() {
        switch self {
        case .entry(let entry): DeadlineHeap.shared.cancel(entry)
        case .sleeper(let task): task.cancel()
        }
    }
}
