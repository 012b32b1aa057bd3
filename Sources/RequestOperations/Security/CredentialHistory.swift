/// The credentials of a ``RefreshingCredential`` and its one renewal, as a pure state machine.
struct CredentialHistory<Credential: Sendable>: Sendable {
    struct Known: Sendable {
        let generation: Int
        let credential: Credential
    }

    enum Step: Sendable {
        case use(Credential)
        /// The answer given will come.
        case wait
        /// As `wait`. The one that asked also begins the renewal with this number, of the credential that counts now.
        case refresh(Int, of: Credential?)
    }

    private enum Phase: Sendable {
        case settled
        /// The renewal of a number is under way.
        case refreshing(Int)
    }

    /// How many are known: a request that was under way during so many renewals is not recognised any more.
    private static var limit: Int { 4 }

    private let maximumRefreshes: Int
    private let window: Duration
    /// The last credentials, the newest at the end.
    private(set) var known: [Known] = []
    private(set) var current: Known?
    private var nextGeneration = 0
    private var phase = Phase.settled
    /// Those that wait for the renewal. They stand beside the phase: if a case held them, each change would copy them.
    private var waiters: [ObjectIdentifier: Answer<Credential>] = [:]
    /// When the renewals of the window began.
    private var begun: [Duration] = []

    init(_ credential: Credential?, maximumRefreshes: Int, window: Duration) {
        self.maximumRefreshes = maximumRefreshes
        self.window = window
        set(credential)
    }

    /// How many wait for the renewal.
    var waiterCount: Int { waiters.count }

    var isRefreshing: Bool {
        if case .settled = phase { false } else { true }
    }

    /// What somebody does for whom a credential was refused.
    ///
    /// - Parameters:
    ///   - generation: The generation of what was refused; `nil` for none.
    ///   - now: The time.
    ///   - answer: Is kept, to be given the next credential, unless there is one already.
    /// - Throws: ``TooManyRefreshes``.
    mutating func step(
        after generation: Int?, at now: Duration, _ answer: Answer<Credential>
    ) throws(TooManyRefreshes) -> Step {
        if isRefreshing {
            waiters[ObjectIdentifier(answer)] = answer
            return .wait
        }
        if let current, current.generation != generation { return .use(current.credential) }
        begun.removeAll { [window] in now - $0 >= window }
        guard begun.count < maximumRefreshes else { throw TooManyRefreshes(count: maximumRefreshes, window: window) }
        begun.append(now)
        nextGeneration += 1
        phase = .refreshing(nextGeneration)
        waiters[ObjectIdentifier(answer)] = answer
        return .refresh(nextGeneration, of: current?.credential)
    }

    /// One that got an answer in another way waits no longer.
    mutating func leave(_ answer: Answer<Credential>) {
        waiters[ObjectIdentifier(answer)] = nil
    }

    /// A renewal has ended; returns who waits for it. Nobody does if the credential was replaced meanwhile, or the time of the
    /// renewal was over.
    mutating func endRefresh(_ number: Int, with result: Result<Credential, any Error>) -> [Answer<Credential>] {
        guard case .refreshing(number) = phase else { return [] }
        if case .success(let credential) = result { set(credential) }
        return settle()
    }

    /// The credential is another one, whatever a renewal gives; returns who waits for that.
    mutating func replace(with credential: Credential?) -> [Answer<Credential>] {
        set(credential)
        return settle()
    }

    private mutating func settle() -> [Answer<Credential>] {
        phase = .settled
        defer { waiters = [:] }
        return Array(waiters.values)
    }

    private mutating func set(_ credential: Credential?) {
        nextGeneration += 1
        current = credential.map { Known(generation: nextGeneration, credential: $0) }
        if let current { known.append(current) }
        if known.count > Self.limit { known.removeFirst() }
    }
}

/// A credential was renewed so many times in its window that another renewal would hardly help.
struct TooManyRefreshes: Error {
    let count: Int
    let window: Duration

    var asRequestError: RequestError {
        RequestError(
            .stageFailed, stage: .process, underlying: self,
            reason: "the credential was refreshed \(count) times within \(window)")
    }
}
