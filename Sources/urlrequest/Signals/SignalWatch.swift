import RequestOperations

/// Hears of SIGINT and SIGTERM in place of the system's own answer, which would end the process.
// Unchecked: `sources` is set once, in `init`, and `hasHeard` is touched on `queue` only.
final class SignalWatch: @unchecked Sendable {
    private let queue = DispatchQueue(label: "urlrequest.SignalWatch")
    private var sources: [any DispatchSourceSignal] = []
    private var hasHeard = false

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - first: Called with the number of the first signal.
    ///   - again: Called with that of each further one.
    init(first: @escaping @Sendable (Int32) -> Void, again: @escaping @Sendable (Int32) -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            // Else the process would end before the source hears of the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                if hasHeard { return again(number) }
                hasHeard = true
                first(number)
            }
            source.activate()
            return source
        }
    }

    /// Stops listening; signals are ignored from then on.
    func end() {
        for source in sources { source.cancel() }
    }
}
