import RequestOperations

/// Handles SIGINT and SIGTERM instead of the system's default action, which would end the process.
///
/// A signal that the process was started to ignore stays ignored. A shell does that with SIGINT for background jobs.
// Unchecked: `sources` is set once, in `init`. `history` is used only on `queue`.
final class SignalWatch: @unchecked Sendable {
    private let queue = DispatchQueue(label: "urlrequest.SignalWatch")
    private var sources: [any DispatchSourceSignal] = []
    private var history = SignalHistory()

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - first: Called once, with the number of the first signal. It may take a long time.
    ///   - again: Called with the number of each later signal, but not for a repetition of the first
    ///     (``SignalHistory``). This does not wait for `first` to end.
    init(first: @escaping @Sendable (Int32) -> Void, again: @escaping @Sendable (Int32) -> Void) {
        sources = [SIGINT, SIGTERM].compactMap { number in
            // Without this, the process would end before the source gets the signal.
            let previous = signal(number, SIG_IGN)
            guard !Self.ignores(previous) else { return nil }
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [self] in
                switch history.meaning(of: number, at: .now) {
                case .first: DispatchQueue.global().async { first(number) }
                case .repetition: break
                case .second: again(number)
                }
            }
            source.activate()
            return source
        }
    }

    private static func ignores(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        // SIG_IGN is a number stored as a function pointer. Function pointers cannot be compared in another way.
        handler.map { unsafeBitCast($0, to: Int.self) } == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Stops listening. Signals are ignored from then on.
    func end() {
        for source in sources { source.cancel() }
    }
}

/// Tells a second signal from a repetition of the first.
///
/// `timeout` of GNU sends its signal to the process and then to the group of the process, so it comes twice.
struct SignalHistory {
    /// What a signal means, after those before it.
    enum Meaning {
        case first
        case repetition
        case second
    }

    /// How long after the first signal the same one counts as its repetition.
    static let repetitionTime = Duration.milliseconds(500)

    private var first: (number: Int32, instant: ContinuousClock.Instant)?

    /// Notes a signal, and returns what it means.
    mutating func meaning(of number: Int32, at now: ContinuousClock.Instant) -> Meaning {
        guard let first else {
            first = (number, now)
            return .first
        }
        return number == first.number && first.instant.duration(to: now) < Self.repetitionTime ? .repetition : .second
    }
}
