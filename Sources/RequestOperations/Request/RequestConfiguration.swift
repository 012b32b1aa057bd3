/// How requests are made: a value that operations copy, so that a later change touches no operation that exists.
///
/// ```swift
/// var configuration = RequestConfiguration.default
/// configuration.adapters = [.bearerToken { try await tokens.current() }]
/// configuration.retryPolicy.maximumRetries = 5
/// ```
public struct RequestConfiguration: Sendable {
    /// All values, in one object: every operation holds a configuration.
    private var values = Box(Values())

    // MARK: What to send, and how

    /// Carries requests over the network. ``PlatformTransport/shared`` by default.
    public var transport: any Transport {
        get { values.value.transport }
        set { values.edit { $0.transport = newValue } }
    }

    /// Change each request before it is sent, in order, at every attempt. None by default.
    public var adapters: [RequestAdapter] {
        get { values.value.adapters }
        set { values.edit { $0.adapters = newValue } }
    }

    /// Judges the head of each response. ``ResponseValidation/successfulStatus`` by default.
    public var validation: ResponseValidation {
        get { values.value.validation }
        set { values.edit { $0.validation = newValue } }
    }

    /// How redirects are followed. At most 10 by default, never from https to http.
    public var redirects: RedirectPolicy {
        get { values.value.redirects }
        set { values.edit { $0.redirects = newValue } }
    }

    /// Which servers are trusted, and how this side identifies itself to them; for a task that brings a
    /// ``TransportTask/trust`` of its own that counts. `nil`, the trust of the transport, by default.
    ///
    /// ``CurlTransport`` keeps the connections of each policy apart. ``URLSessionTransport`` cannot keep to a policy: its
    /// requests fail as ``RequestError/Code/unsupported``.
    public var trust: TrustPolicy? {
        get { boxedTrust?.value }
        set { values.edit { $0.trust = newValue.map(Box.init) } }
    }

    var boxedTrust: Box<TrustPolicy>? { values.value.trust }

    /// Bounds the attempts in flight, all or for each host; shared by the operations that are given it. `nil`, no bound,
    /// by default. In a ``RequestQueue`` an attempt takes a slot of this and one of the queue's limiter together, or none.
    public var limiter: RequestLimiter? {
        get { values.value.limiter }
        set { values.edit { $0.limiter = newValue } }
    }

    /// A request that waited for its slot longer than this is processed again, lest its token be stale, and keeps its place
    /// in the line; once for each attempt. 30 s by default.
    public var freshness: Duration {
        get { values.value.freshness }
        set { values.edit { $0.freshness = newValue } }
    }

    // MARK: Retry

    /// Whether and when a failed attempt is followed by another. Three retries with backoff by default.
    public var retryPolicy: RetryPolicy {
        get { values.value.retryPolicy }
        set { values.edit { $0.retryPolicy = newValue } }
    }

    /// Have the last word about what follows a failed attempt, in order, after the policy. None by default.
    public var retryDeciders: [RetryDecider] {
        get { values.value.retryDeciders }
        set { values.edit { $0.retryDeciders = newValue } }
    }

    /// Whether an attempt that is not answered in time is helped by another beside it. `nil`, never, by default.
    public var hedging: Hedging? {
        get { values.value.hedging }
        set { values.edit { $0.hedging = newValue } }
    }

    /// Whether a request waits with its first attempt while the machine is connected to no network, as the
    /// ``networkPath`` says. `false` by default: it is attempted, fails, and its policy decides.
    ///
    /// A machine that has had a default route is waited for until it has one again, one that had none from the beginning until
    /// it has any network.
    ///
    /// It waits before ``URLRequestOperation/process(_:)``, so whichever host it is for, and without a slot. It goes on within
    /// half a second after there is a network, spread so that those who wait do not come all at once, or when
    /// ``URLRequestOperation/retryNow()`` says so.
    /// Only the ``deadline`` bounds the wait: a request for which that passes first fails as ``RequestError/Code/timedOut``. The
    /// policy's ``RetryPolicy/elapsedLimit`` does not run yet, since nothing was sent.
    public var waitsForConnectivity: Bool {
        get { values.value.waitsForConnectivity }
        set { values.edit { $0.waitsForConnectivity = newValue } }
    }

    /// The network that is waited for if ``waitsForConnectivity`` is set. ``NetworkPath/shared`` by default.
    public var networkPath: NetworkPath {
        get { values.value.networkPath ?? .shared }
        set { values.edit { $0.networkPath = newValue } }
    }

    /// What is known of hosts: retry budgets, circuits, what they asked for by `Retry-After`, and recoveries.
    /// ``HostRegistry/shared`` by default. A configuration with another ``clock`` than the continuous one has a registry of its own
    /// on that clock, which its copies share, unless one is set.
    public var hosts: HostRegistry {
        get { values.value.hosts }
        set { values.edit { $0.given = newValue } }
    }

    /// The parts of the policy that every request asks, without a copy of the whole.
    var retryBudget: RetryBudget? { values.value.retryPolicy.budget }
    var circuitBreaker: CircuitBreaker? { values.value.retryPolicy.circuitBreaker }
    /// What hosts asked for; `nil` where the policy takes no notice of what other requests were told.
    var silences: SilenceTable? {
        let policy = values.value.retryPolicy
        return policy.honoursRetryAfter && policy.sharesRetryAfter ? hosts.silences : nil
    }

    /// Where the jitter comes from, shared by all operations that are given it. The system's generator by default.
    public var randomSource: RandomSource {
        get { values.value.randomSource }
        set { values.edit { $0.randomSource = newValue } }
    }

    /// The clock of all waits and of the limits that the operation keeps; those of a transport run in real time. The
    /// continuous clock by default.
    public var clock: any Clock<Duration> {
        get { values.value.clock }
        set { values.edit { $0.clock = newValue } }
    }

    /// The time on that clock.
    var requestClock: RequestClock { values.value.requestClock }

    // MARK: Time limits

    /// The longest time for name look-up, connection and TLS handshake of an attempt. 15 s by default; `nil` is none.
    public var connectTimeLimit: Duration? {
        get { values.value.connectTimeLimit }
        set { values.edit { $0.connectTimeLimit = newValue } }
    }

    /// The longest time of an attempt without a byte in either direction. 60 s by default; `nil` is none. A
    /// `timeoutInterval` that a request sets itself, other than Foundation's default of 60 s, takes its place.
    public var idleTimeLimit: Duration? {
        get { values.value.idleTimeLimit }
        set { values.edit { $0.idleTimeLimit = newValue } }
    }

    /// The longest time of an attempt, from its slot to the last byte, redirects included; the attempt then fails as
    /// ``RequestError/Code/timedOut`` and can be retried. `nil`, none, by default. The time stands still while a redirect waits
    /// for a slot of another host, and while ``CurlTransport`` has the attempt wait for a connection.
    public var attemptTimeLimit: Duration? {
        get { values.value.attemptTimeLimit }
        set { values.edit { $0.attemptTimeLimit = newValue } }
    }

    /// The longest time of the whole request, all attempts and waits included; then it fails as
    /// ``RequestError/Code/timedOut`` for good, whatever runs. `nil`, none, by default. Counted from when the operation
    /// became ready: in a queue, from when it is there and what it depends on has finished, so the time that it waits for
    /// a place counts. (A queue asks for `isReady` as soon as it has the operation, and the first time that this is read
    /// as `true` is what counts: who reads it before, of an operation that is in no queue yet, starts the time. Without
    /// any of that it starts with the operation.) One whose deadline passed in the queue fails when it is started, and
    /// sends nothing.
    public var deadline: Duration? {
        get { values.value.deadline }
        set { values.edit { $0.deadline = newValue } }
    }

    /// The longest time of a stage of your own code. None by default.
    ///
    /// A stage that takes longer is abandoned, and the attempt fails as ``RequestError/Code/timedOut`` of that stage. A stage
    /// with a limit runs in a Task of its own.
    public var stageTimeLimits: [UserStage: Duration] {
        get { values.value.stageTimeLimits }
        set { values.edit { $0.stageTimeLimits = newValue } }
    }

    // MARK: Sizes

    /// The largest body read into memory, in bytes after decompression. 64 MiB by default; `nil` is no bound. Bodies that
    /// go to a file or to a consumer are not bounded by it.
    public var maximumBodySize: Int? {
        get { values.value.maximumBodySize }
        set { values.edit { $0.maximumBodySize = newValue } }
    }

    /// How many bytes of a rejected response are read to keep its connection usable. 64 KiB by default; at 0 the
    /// connection is closed at once. 4 KiB of them are kept in the error.
    public var errorBodyLimit: Int {
        get { values.value.errorBodyLimit }
        set { values.edit { $0.errorBodyLimit = newValue } }
    }

    /// Makes an error of the body of a response whose status was refused: the cause of the ``RequestError``. `nil`, none, by
    /// default.
    public var errorBodyDecoder: ErrorBodyDecoder? {
        get { values.value.errorBodyDecoder }
        set { values.edit { $0.errorBodyDecoder = newValue } }
    }

    // MARK: Where code runs, and what it hears

    /// The queue on which `whenFinished` closures run. A global concurrent one by default.
    public var completionQueue: DispatchQueue {
        get { values.value.completionQueue }
        set { values.edit { $0.completionQueue = newValue } }
    }

    /// Hears of every step of every request; it must return soon. `nil` by default.
    ///
    /// For each request the steps are told in order and one at a time, where they happen: on the Task of the operation, but
    /// for those that come from elsewhere (a cancel before the start, a deadline, a stage that was left behind). A step that
    /// happens while another of the same request is being told is told after it, by the same thread.
    public var onEvent: (@Sendable (RequestEvent) -> Void)? {
        get { values.value.onEvent }
        set { values.edit { $0.onEvent = newValue } }
    }

    /// Hears of bytes sent and received, on the Task that carries out the transfer (the operation's, unless an
    /// ``attemptTimeLimit`` gives the attempt one of its own), at most about 20 times a second for each request.
    /// `nil` by default.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { values.value.onProgress }
        set { values.edit { $0.onProgress = newValue } }
    }

    /// Makes a configuration with the defaults given at each property.
    public init() {}

    /// The defaults.
    public static let `default` = RequestConfiguration()

    /// The queue on which a stage runs, overridden or not; `nil`, the Task of the operation, by default.
    ///
    /// - Parameter stage: The stage.
    public func queue(for stage: UserStage) -> OperationQueue? {
        values.value.stageQueues[stage]
    }

    /// Runs a stage, overridden or not, on an operation queue. A queue that cancels or drops the work ends the operation
    /// as cancelled.
    ///
    /// - Parameters:
    ///   - queue: The queue, or `nil` for the Task of the operation.
    ///   - stage: The stage.
    public mutating func setQueue(_ queue: OperationQueue?, for stage: UserStage) {
        values.edit { $0.stageQueues[stage] = queue }
    }

    /// What the policy and the deciders decide.
    func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        var decision = retryPolicy.decision(after: failure, using: randomSource)
        for decider in retryDeciders { decision = await decider.decision(after: failure, insteadOf: decision) }
        return decision
    }

    /// Whether a request that the adapters made may be sent a second time as it is.
    var hasRepeatableAdapters: Bool { values.value.hasRepeatableAdapters }

    /// Whether the stage is awaited directly: no queue, no time limit.
    func runsDirectly(_ stage: UserStage) -> Bool {
        values.value.stageQueues.isEmpty && values.value.stageTimeLimits.isEmpty
            || values.value.stageQueues[stage] == nil && values.value.stageTimeLimits[stage] == nil
    }

    /// The limits for a task, as far as it brings none of its own.
    func limits(for task: TransportTask) -> TransferLimits {
        let isInMemory = if case .memory = task.destination { true } else { false }
        var limits = TransferLimits(
            connect: connectTimeLimit, idle: task.request.ownTimeout ?? idleTimeLimit,
            maximumBodySize: isInMemory ? maximumBodySize : nil, errorBodyLimit: errorBodyLimit)
        // All that is read, so that it can be decoded; the error keeps its beginning.
        if errorBodyLimit > limits.keptErrorBody { limits.keptErrorBody = errorBodyLimit }
        return limits
    }
}

extension RequestConfiguration {
    private struct Values: Sendable {
        var transport: any Transport = PlatformTransport.shared
        var adapters: [RequestAdapter] = [] {
            didSet { hasRepeatableAdapters = adapters.allSatisfy(\.isRepeatable) }
        }
        private(set) var hasRepeatableAdapters = true
        var validation: ResponseValidation = ResponseValidation.successfulStatus
        var redirects: RedirectPolicy = RedirectPolicy()
        var trust: Box<TrustPolicy>?
        var limiter: RequestLimiter?
        var freshness: Duration = .seconds(30)
        var retryPolicy: RetryPolicy = RetryPolicy()
        var retryDeciders: [RetryDecider] = []
        var hedging: Hedging?
        /// `nil` for the shared one, which is made when it is asked for.
        var networkPath: NetworkPath?
        var waitsForConnectivity = false
        var randomSource: RandomSource = RandomSource.system
        var clock: any Clock<Duration> = ContinuousClock() {
            didSet {
                requestClock = RequestClock(clock)
                hostsOfClock = requestClock.isContinuous ? .shared : HostRegistry(requestClock)
            }
        }
        private(set) var requestClock = RequestClock.continuous
        private var hostsOfClock = HostRegistry.shared
        /// The registry that was set.
        var given: HostRegistry?
        var hosts: HostRegistry { given ?? hostsOfClock }
        var connectTimeLimit: Duration? = .seconds(15)
        var idleTimeLimit: Duration? = .seconds(60)
        var attemptTimeLimit: Duration?
        var deadline: Duration?
        var stageTimeLimits: [UserStage: Duration] = [:]
        var maximumBodySize: Int? = 64 << 20
        var errorBodyLimit: Int = 64 << 10
        var errorBodyDecoder: ErrorBodyDecoder?
        var completionQueue: DispatchQueue = DispatchQueue.global()
        var onEvent: (@Sendable (RequestEvent) -> Void)?
        var onProgress: (@Sendable (TransferProgress) -> Void)?
        var stageQueues: [UserStage: OperationQueue] = [:]
    }
}
