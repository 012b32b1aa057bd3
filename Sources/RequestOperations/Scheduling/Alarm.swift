/// An alarm that was set on a ``RequestClock``.
enum Alarm: Sendable {
    case entry(DeadlineHeap.Entry)
    case sleeper(Task<Void, Never>)

    /// Stops the alarm from ringing, unless it already rings.
    func cancel() {
        switch self {
        case .entry(let entry): DeadlineHeap.shared.cancel(entry)
        case .sleeper(let task): task.cancel()
        }
    }
}
