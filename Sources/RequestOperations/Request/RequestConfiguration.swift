/// How requests are made. It is a value that operations copy, so a later change does not affect existing operations.
///
/// ```swift
/// var configuration = RequestConfiguration.default
/// configuration.adapters = [.bearerToken { try await tokens.current() }]
/// configuration.retryPolicy.maximumRetries = 5
/// ```
public struct RequestConfiguration: Sendable {
    /// All values are in one object, because every operation holds a configuration.
    private var values = Box(Values())

    // MARK: What to send, and how

    /// Carries requests over the network. ``PlatformTransport/shared`` by default.
    public var transport: any Transport {
        get { values.value.transport }
        set { values.edit { $0.transport = newValue } }
    }

    /// These change each request before it is sent, in order, at every attempt. None by default.
    public var adapters: [RequestAdapter] {
        get { values.value.adapters }
        set { values.edit { $0.adapters = newValue } }
    }

    /// Judges the head of each response. ``ResponseValidation/successfulStatus`` by default.
    public var validation: ResponseValidation {
        get { values.value.validation }
        set { values.edit { $0.validation = newValue } }
    }

    /// How redirects are followed. By default at most 10 are, and none from https to http. An upload follows none that would
    /// drop its body.
    public var redirects: RedirectPolicy {
        get { values.value.redirects }
        set { values.edit { $0.redirects = newValue } }
    }

    /// Which servers are trusted, and how this side identifies itself to them. `nil` by default: the trust of the
    /// transport. A task's own ``TransportTask/trust`` takes precedence.
    ///
    /// ``CurlTransport`` keeps the connections of each policy apart. ``URLSessionTransport`` cannot follow a policy, so
    /// its requests fail as ``RequestError/Code/unsupported``.
    public var trust: TrustPolicy? {
        get { boxedTrust?.value }
        set { values.edit { $0.trust = newValue.map(Box.init) } }
    }

    var boxedTrust: Box<TrustPolicy>? { values.value.trust }

    /// Bounds the attempts in flight, in total or for each host. All operations with this limiter share it. `nil`, no
    /// bound, by default.
    ///
    /// In a ``RequestQueue`` an attempt takes the place of the queue first. If it must wait for a slot here, it gives
    /// that place back and later gets both together.
    public var limiter: RequestLimiter? {
        get { values.value.limiter }
        set { values.edit { $0.limiter = newValue } }
    }

    /// The longest wait for a slot before the request is processed again, so that its token is not stale. The request
    /// keeps its place in the line. This happens at most once for each attempt. 30 s by default.
    public var freshness: Duration {
        get { values.value.freshness }
        set { values.edit { $0.freshness = newValue } }
    }

    // MARK: Retry

    /// Whether and when another attempt follows a failed one. Three retries with backoff by default.
    public var retryPolicy: RetryPolicy {
        get { values.value.retryPolicy }
        set { values.edit { $0.retryPolicy = newValue } }
    }

    /// These have the last word about what follows a failed attempt, in order, after the policy. None by default.
    public var retryDeciders: [RetryDecider] {
        get { values.value.retryDeciders }
        set { values.edit { $0.retryDeciders = newValue } }
    }

    /// Whether a slow attempt gets help from a second one in parallel. `nil`, never, by default.
    public var hedging: Hedging? {
        get { values.value.hedging }
        set { values.edit { $0.hedging = newValue } }
    }

    /// Whether the first attempt waits while the ``networkPath`` says that the machine has no network. `false` by
    /// default: the attempt is made, fails, and the policy decides.
    ///
    /// If the machine has had a default route, the wait lasts until it has one again. If it had none from the
    /// beginning, any network is enough.
    ///
    /// The wait comes before ``URLRequestOperation/process(_:)``, so the host does not matter, and it holds no slot. It
    /// ends within half a second after there is a network. The ends are spread, so that waiting requests do not all go
    /// at once. ``RetryingOperation/retryNow()`` ends it, too.
    ///
    /// Only the ``deadline`` limits the wait. If it passes first, the request fails as ``RequestError/Code/timedOut``.
    /// The policy's ``RetryPolicy/elapsedLimit`` does not run yet, because nothing was sent.
    public var waitsForConnectivity: Bool {
        get { values.value.waitsForConnectivity }
        set { values.edit { $0.waitsForConnectivity = newValue } }
    }

    /// The network to wait for if ``waitsForConnectivity`` is set. ``NetworkPath/shared`` by default.
    public var networkPath: NetworkPath {
        get { values.value.networkPath ?? .shared }
        set { values.edit { $0.networkPath = newValue } }
    }

    /// Remembers hosts: retry budgets, circuits, `Retry-After` and recoveries. ``HostRegistry/shared`` by default.
    ///
    /// A configuration with a ``clock`` other than the continuous one has its own registry on that clock, unless you
    /// set one. Its copies share it.
    public var hosts: HostRegistry {
        get { values.value.hosts }
        set { values.edit { $0.given = newValue } }
    }

    /// The parts of the policy that every request needs, without a copy of the whole policy.
    var retryBudget: RetryBudget? { values.value.retryPolicy.budget }
    var circuitBreaker: CircuitBreaker? { values.value.retryPolicy.circuitBreaker }
    /// Whether requests heed the `Retry-After` that other requests were told.
    var sharesRetryAfter: Bool {
        values.value.retryPolicy.honoursRetryAfter && values.value.retryPolicy.sharesRetryAfter
    }

    /// The source of jitter. All operations with this source share it. The system's generator by default.
    public var randomSource: RandomSource {
        get { values.value.randomSource }
        set { values.edit { $0.randomSource = newValue } }
    }

    /// The clock of all waits, and of the limits that the operation measures. Limits that a transport measures run in
    /// real time. The continuous clock by default.
    public var clock: any Clock<Duration> {
        get { values.value.clock }
        set { values.edit { $0.clock = newValue } }
    }

    /// The time on that clock.
    var requestClock: RequestClock { values.value.requestClock }

    // MARK: Time limits

    /// The longest time of an attempt for name look-up, connection and TLS handshake. 15 s by default. `nil` means no
    /// limit.
    public var connectTimeLimit: Duration? {
        get { values.value.connectTimeLimit }
        set { values.edit { $0.connectTimeLimit = newValue } }
    }

    /// The longest time of an attempt without a byte in either direction. 60 s by default. `nil` means no limit. A
    /// request's own `timeoutInterval` takes precedence, unless it is Foundation's default of 60 s.
    public var idleTimeLimit: Duration? {
        get { values.value.idleTimeLimit }
        set { values.edit { $0.idleTimeLimit = newValue } }
    }

    /// The longest time of an attempt, from its slot to the last byte, redirects included. `nil`, no limit, by default.
    ///
    /// Beyond it, the attempt fails as ``RequestError/Code/timedOut`` and can be retried. The time stands still while
    /// ``CurlTransport`` lets the attempt wait for a connection.
    public var attemptTimeLimit: Duration? {
        get { values.value.attemptTimeLimit }
        set { values.edit { $0.attemptTimeLimit = newValue } }
    }

    /// The longest time of the whole request, all attempts and waits included. `nil`, no limit, by default.
    ///
    /// Beyond it, the request fails as ``RequestError/Code/timedOut`` for good, whatever it is doing. If the deadline
    /// passes while the operation is in a queue, it fails when it is started, and sends nothing.
    ///
    /// The time runs from when the operation became ready. In a queue that is when the queue has it and its
    /// dependencies have finished. So the wait for a place counts. What counts exactly is the first time that `isReady`
    /// is read as `true`. A queue reads it as soon as it has the operation. If you read it earlier, you start the time.
    /// If nothing reads it, the time starts with the operation.
    public var deadline: Duration? {
        get { values.value.deadline }
        set { values.edit { $0.deadline = newValue } }
    }

    /// The longest time of a stage of your own code. None by default.
    ///
    /// A stage that takes longer is left behind, and the attempt fails as ``RequestError/Code/timedOut`` of that stage.
    /// A stage with a limit runs in a Task of its own.
    public var stageTimeLimits: [UserStage: Duration] {
        get { values.value.stageTimeLimits }
        set { values.edit { $0.stageTimeLimits = newValue } }
    }

    // MARK: Sizes

    /// The largest body that is read into memory, in bytes after decompression. 64 MiB by default. `nil` means no
    /// bound. It does not apply to bodies that go to a file or a consumer.
    public var maximumBodySize: Int? {
        get { values.value.maximumBodySize }
        set { values.edit { $0.maximumBodySize = newValue } }
    }

    /// How many bytes of a decoded body may come from one byte that was received. 256 by default. `nil` means no limit.
    ///
    /// ``TransferLimits/maximumDecompressionRatio`` says how they are counted. ``URLSessionTransport`` cannot count them.
    public var maximumDecompressionRatio: Int? {
        get { values.value.maximumDecompressionRatio }
        set { values.edit { $0.maximumDecompressionRatio = newValue } }
    }

    /// How many bytes of a rejected response are read, so that its connection stays usable. 64 KiB by default. At 0 the
    /// connection is closed at once. The error keeps 4 KiB of them.
    public var errorBodyLimit: Int {
        get { values.value.errorBodyLimit }
        set { values.edit { $0.errorBodyLimit = newValue } }
    }

    /// Makes an error from the body of a response with a rejected status. It becomes the cause of the ``RequestError``.
    /// `nil`, none, by default.
    public var errorBodyDecoder: ErrorBodyDecoder? {
        get { values.value.errorBodyDecoder }
        set { values.edit { $0.errorBodyDecoder = newValue } }
    }

    // MARK: Queues and callbacks

    /// The queue on which `whenFinished` closures run. By default a serial queue that all operations share.
    public var completionQueue: DispatchQueue {
        get { values.value.completionQueue }
        set { values.edit { $0.completionQueue = newValue } }
    }

    /// Called for every step of every request. It must return quickly. `nil` by default.
    ///
    /// The steps of one request are reported in order and one at a time, where they happen. That is mostly the Task of
    /// the operation. A cancel before the start, a deadline, or a stage that was left behind is reported from
    /// elsewhere. If a step happens while another one of the same request is being reported, the same thread reports it
    /// afterwards.
    public var onEvent: (@Sendable (RequestEvent) -> Void)? {
        get { values.value.onEvent }
        set { values.edit { $0.onEvent = newValue } }
    }

    /// Called for bytes sent and received, at most about 20 times a second for each request. `nil` by default.
    ///
    /// It runs on the Task that performs the transfer. That is the operation's Task, or a Task of the attempt if there
    /// is an ``attemptTimeLimit``.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { values.value.onProgress }
        set { values.edit { $0.onProgress = newValue } }
    }

    /// Makes a configuration with the defaults given at each property.
    public init() {}

    /// The defaults.
    public static let `default` = RequestConfiguration()

    /// A copy with changes: `RequestConfiguration.default.with { $0.deadline = .seconds(10) }`.
    public func with(_ change: (inout RequestConfiguration) throws -> Void) rethrows -> RequestConfiguration {
        var copy = self
        try change(&copy)
        return copy
    }

    /// The queue on which a stage runs, overridden or not. `nil` by default: the Task of the operation.
    ///
    /// - Parameter stage: The stage.
    public func queue(for stage: UserStage) -> OperationQueue? {
        values.value.stageQueues[stage]
    }

    /// Runs a stage on an operation queue, overridden or not. If the queue cancels or drops the work, the operation
    /// ends as cancelled.
    ///
    /// - Parameters:
    ///   - queue: The queue. `nil` means the Task of the operation.
    ///   - stage: The stage.
    public mutating func setQueue(_ queue: OperationQueue?, for stage: UserStage) {
        values.edit { $0.stageQueues[stage] = queue }
    }

    /// The decision of the policy and the deciders.
    func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        var decision = retryPolicy.decision(after: failure, using: randomSource)
        for decider in retryDeciders { decision = await decider.decision(after: failure, insteadOf: decision) }
        return decision
    }

    /// What answers challenges of servers, for requests that no adapter sees: those after a redirect, and those of tus. It is
    /// also one of the adapters and deciders.
    var authentication: ServerAuthentication? {
        get { values.value.authentication }
        set { values.edit { $0.authentication = newValue } }
    }

    /// Whether the adapters allow their request to be sent a second time unchanged.
    var hasRepeatableAdapters: Bool { values.value.hasRepeatableAdapters }

    /// Whether the stage is awaited directly, without a queue and a time limit.
    func runsDirectly(_ stage: UserStage) -> Bool {
        values.value.stageQueues.isEmpty && values.value.stageTimeLimits.isEmpty
            || values.value.stageQueues[stage] == nil && values.value.stageTimeLimits[stage] == nil
    }

    /// The limits for a task. The task's own limits take precedence later.
    func limits(for task: TransportTask) -> TransferLimits {
        let isInMemory = if case .memory = task.destination { true } else { false }
        var limits = TransferLimits(
            connect: connectTimeLimit, idle: task.request.ownTimeout ?? idleTimeLimit,
            maximumBodySize: isInMemory ? maximumBodySize : nil,
            maximumDecompressionRatio: maximumDecompressionRatio, errorBodyLimit: errorBodyLimit)
        // The failure keeps everything that is read, so that it can be decoded. The error keeps the beginning.
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
        var authentication: ServerAuthentication?
        var hedging: Hedging?
        /// `nil` means the shared one, which is made on first use.
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
        var maximumDecompressionRatio: Int? = 256
        var errorBodyLimit: Int = 64 << 10
        var errorBodyDecoder: ErrorBodyDecoder?
        var completionQueue: DispatchQueue = DispatchQueue.completions
        var onEvent: (@Sendable (RequestEvent) -> Void)?
        var onProgress: (@Sendable (TransferProgress) -> Void)?
        var stageQueues: [UserStage: OperationQueue] = [:]
    }
}

extension RequestConfiguration: CustomStringConvertible, CustomReflectable {
    /// One line: the transport, the adapters, the number of retries and the deadline.
    public var description: String {
        var parts = ["\(type(of: transport))"]
        if !adapters.isEmpty { parts.append("adapters: \(adapters.map(\.description).joined(separator: "; "))") }
        parts.append("\(retryPolicy.maximumRetries) retries")
        if let deadline { parts.append("deadline \(deadline)") }
        return parts.joined(separator: ", ")
    }

    /// The plain settings. Values that are code, or that may hold anything, are shown by their type, such as the
    /// transport.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "transport": "\(type(of: transport))", "adapters": adapters, "redirects": redirects,
                "trust": trust as Any, "freshness": freshness, "maximumRetries": retryPolicy.maximumRetries,
                "hedging": hedging as Any, "waitsForConnectivity": waitsForConnectivity,
                "connectTimeLimit": connectTimeLimit as Any, "idleTimeLimit": idleTimeLimit as Any,
                "attemptTimeLimit": attemptTimeLimit as Any, "deadline": deadline as Any,
                "stageTimeLimits": stageTimeLimits, "maximumBodySize": maximumBodySize as Any,
                "maximumDecompressionRatio": maximumDecompressionRatio as Any, "errorBodyLimit": errorBodyLimit,
            ])
    }
}
