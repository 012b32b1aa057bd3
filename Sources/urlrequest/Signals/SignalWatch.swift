import RequestOperations

/// Hears of SIGINT and SIGTERM in place of the system's own answer, which would end the process. One that the process was
/// started to ignore, as a shell does with SIGINT for what runs in the background, stays ignored.
// Unchecked: `sources` is set once, in `init`, and `hasHeard` is touched on `queue` only.
final class SignalWatch: @unchecked Sendable {
    private let queue = DispatchQueue(label: "urlrequest.SignalWatch")
    private var sources: [any DispatchSourceSignal] = []
    private var hasHeard = false

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - first: Called with the number of the first signal; it may take its time.
    ///   - again: Called with that of each further one, which does not wait for the first.
    init(first: @escaping @Sendable (Int32) -> Void, again: @escaping @Sendable (Int32) -> Void) {
        sources = [SIGINT, SIGTERM].compactMap { number in
            // Else the process would end before the source hears of the signal.
            let previous = signal(number, SIG_IGN)
            guard !Self.ignores(previous) else { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                if hasHeard { return again(number) }
                hasHeard = true
                DispatchQueue.global().async { first(number) }
            }
            source.activate()
            return source
        }
    }

    private static func ignores(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        // SIG_IGN is a number in the place of a function, and functions cannot be compared otherwise.
        handler.map { unsafeBitCast($0, to: Int.self) } == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Stops listening; signals are ignored from then on.
    func end() {
        for source in sources { source.cancel() }
    }
}
