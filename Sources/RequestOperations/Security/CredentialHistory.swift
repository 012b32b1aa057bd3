/// The credentials of a ``RefreshingCredential`` and its single renewal, as a pure state machine.
struct CredentialHistory<Credential: Sendable>: Sendable {
    struct Known: Sendable {
        let generation: Int
        let credential: Credential
    }

    enum Step: Sendable {
        case use(Credential)
        /// The caller waits for the given answer.
        case wait
        /// Like `wait`, but the caller also starts the renewal with this number, of the present credential.
        case refresh(Int, of: Credential?)
    }

    private enum Phase: Sendable {
        case settled
        /// The renewal with this number is running.
        case refreshing(Int)
    }

    /// How many credentials are kept. A request that was running during that many renewals is no longer recognized.
    private static var limit: Int { 4 }

    private let maximumRefreshes: Int
    private let window: Duration
    /// The latest credentials, with the newest at the end.
    private(set) var known: [Known] = []
    private(set) var current: Known?
    private var nextGeneration = 0
    private var phase = Phase.settled
    /// The callers that wait for the renewal. They are stored beside the phase, because a case with them would copy
    /// them at each change.
    private var waiters: [ObjectIdentifier: Answer<Credential>] = [:]
    /// The start times of the renewals in the window.
    private var begun: [Duration] = []

    init(_ credential: Credential?, maximumRefreshes: Int, window: Duration) {
        self.maximumRefreshes = maximumRefreshes
        self.window = window
        set(credential)
    }

    /// How many callers wait for the renewal.
    var waiterCount: Int { waiters.count }

    var isRefreshing: Bool {
        if case .settled = phase { false } else { true }
    }

    /// Decides what a caller does whose credential was rejected.
    ///
    /// - Parameters:
    ///   - generation: The generation of the rejected credential; `nil` if there was none.
    ///   - now: The present time.
    ///   - answer: Receives the next credential. It is not stored if a newer credential already exists.
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

    /// Removes a waiting caller that was answered in another way.
    mutating func leave(_ answer: Answer<Credential>) {
        waiters[ObjectIdentifier(answer)] = nil
    }

    /// Ends a renewal and returns the callers that wait for it. It returns none if the credential was replaced
    /// meanwhile, or if the renewal ran out of time.
    mutating func endRefresh(_ number: Int, with result: Result<Credential, any Error>) -> [Answer<Credential>] {
        guard case .refreshing(number) = phase else { return [] }
        if case .success(let credential) = result { set(credential) }
        return settle()
    }

    /// Replaces the credential, and returns the callers that wait for a running renewal. The result of that renewal is
    /// ignored.
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
