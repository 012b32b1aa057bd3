/// How requests are made. It is a value that operations copy, so a later change does not affect existing operations.
///
/// ```swift
/// var configuration = RequestConfiguration.default
/// configuration.adapters = [.bearerToken { try await tokens.current() }]
/// configuration.retryPolicy.maximumRetries = 5
/// ```
public struct RequestConfiguration: Sendable {
    /// These values on the heap, once an operation was made with them. Copies share it until one of them is changed. `nil`
    /// for the copy that is there itself.
    private var shared: Locked<RequestSettings?>? = Locked(nil)

    // MARK: What to send, and how

    /// Carries requests over the network. ``PlatformTransport/shared`` by default.
    public var transport: any Transport = PlatformTransport.shared { didSet { changed() } }

    /// Adapters that change each request before it is sent, in order, at every attempt. None by default.
    public var adapters: [RequestAdapter] = [] { didSet { changed() } }

    /// Judges the head of each response. ``ResponseValidation/successfulStatus`` by default.
    public var validation: ResponseValidation = ResponseValidation.successfulStatus { didSet { changed() } }

    /// How redirects are followed. By default an attempt follows at most 10, and none from https to http. An upload follows
    /// no redirect that would drop its body.
    public var redirects: RedirectPolicy = RedirectPolicy() { didSet { changed() } }

    /// Which servers are trusted, and how this side identifies itself to them. `nil` by default: the trust of the
    /// transport. A task's own ``TransportTask/trust`` takes precedence.
    ///
    /// ``CurlTransport`` keeps the connections of each policy apart. ``URLSessionTransport`` cannot follow a policy, so
    /// its requests fail as ``RequestError/Code/unsupported``.
    public var trust: TrustPolicy? { didSet { changed() } }

    /// Bounds the attempts in flight, in total or for each host. All operations with this limiter share it. `nil`, no
    /// bound, by default.
    ///
    /// In a ``RequestQueue`` an attempt first takes a place in the queue. If it must wait for a slot of the limiter, it
    /// releases that place and later gets both together.
    public var limiter: RequestLimiter? { didSet { changed() } }

    /// The longest wait for a slot before the request is processed again, so that its token is not stale. The request
    /// keeps its position. This happens at most once for each attempt. 30 s by default.
    public var freshness: Duration = .seconds(30) { didSet { changed() } }

    // MARK: Retry

    /// Whether and when another attempt follows a failed one. Three retries with backoff by default.
    public var retryPolicy: RetryPolicy = RetryPolicy() { didSet { changed() } }

    /// Deciders that can replace the policy's decision about a failed attempt. They are called in order. None by
    /// default.
    public var retryDeciders: [RetryDecider] = [] { didSet { changed() } }

    /// Whether a slow attempt gets help from a second one in parallel. `nil`, never, by default.
    public var hedging: Hedging? { didSet { changed() } }

    /// Whether the first attempt waits while the ``networkPath`` says that the machine has no network. `false` by
    /// default: the attempt is made, fails, and the policy decides.
    ///
    /// If the machine has had a default route, the wait lasts until it has one again. If it had none from the
    /// beginning, any network is enough.
    ///
    /// The wait comes before ``URLRequestOperation/process(_:)``, so the host does not matter, and it holds no slot. It
    /// ends within half a second after there is a network. The waits end at different times, so that the requests do
    /// not all start at once. ``RetryingOperation/retryNow()`` also ends the wait.
    ///
    /// Only the ``deadline`` limits the wait. If it passes first, the request fails as ``RequestError/Code/timedOut``.
    /// The policy's ``RetryPolicy/elapsedLimit`` does not run yet, because nothing was sent.
    public var waitsForConnectivity = false { didSet { changed() } }

    /// The network to wait for if ``waitsForConnectivity`` is set. ``NetworkPath/shared`` by default.
    public var networkPath: NetworkPath {
        get { givenPath ?? .shared }
        set { givenPath = newValue }
    }

    /// `nil` means the shared one, which is made on first use.
    private var givenPath: NetworkPath? { didSet { changed() } }

    /// Remembers hosts: retry budgets, circuits, `Retry-After` and recoveries. ``HostRegistry/shared`` by default.
    ///
    /// A configuration with a ``clock`` other than the continuous one has its own registry on that clock, unless you
    /// set one. Its copies share it.
    public var hosts: HostRegistry {
        get { givenHosts ?? hostsOfClock }
        set { givenHosts = newValue }
    }

    private var givenHosts: HostRegistry? { didSet { changed() } }
    private var hostsOfClock = HostRegistry.shared

    /// The parts of the policy that every request needs, without a copy of the whole policy.
    var retryBudget: RetryBudget? { retryPolicy.budget }
    var circuitBreaker: CircuitBreaker? { retryPolicy.circuitBreaker }
    /// Whether requests obey the `Retry-After` that other requests received.
    var sharesRetryAfter: Bool { retryPolicy.honoursRetryAfter && retryPolicy.sharesRetryAfter }

    /// The source of jitter. All operations with this source share it. The system's generator by default.
    public var randomSource: RandomSource = RandomSource.system { didSet { changed() } }

    /// The clock of all waits, and of the limits that the operation measures. Limits that a transport measures run in
    /// real time. The continuous clock by default.
    public var clock: any Clock<Duration> = ContinuousClock() {
        didSet {
            requestClock = RequestClock(clock)
            hostsOfClock = requestClock.isContinuous ? .shared : HostRegistry(requestClock)
            changed()
        }
    }

    /// The time on that clock.
    private(set) var requestClock = RequestClock.continuous

    // MARK: Time limits

    /// The longest time of an attempt for name look-up, connection and TLS handshake. 15 s by default. `nil` means no
    /// limit.
    public var connectTimeLimit: Duration? = .seconds(15) { didSet { changed() } }

    /// The longest time of an attempt without a byte in either direction. 60 s by default. `nil` means no limit. A
    /// request's own `timeoutInterval` takes precedence, unless it is Foundation's default of 60 s.
    public var idleTimeLimit: Duration? = .seconds(60) { didSet { changed() } }

    /// The longest time of an attempt, from its slot to the last byte, redirects included. `nil`, no limit, by default.
    ///
    /// Beyond it, the attempt fails as ``RequestError/Code/timedOut`` and can be retried. The time stands still while
    /// ``CurlTransport`` lets the attempt wait for a connection.
    public var attemptTimeLimit: Duration? { didSet { changed() } }

    /// The longest time of the whole request, all attempts and waits included. `nil`, no limit, by default.
    ///
    /// Beyond it, the request fails as ``RequestError/Code/timedOut`` for good, whatever it is doing. If the deadline
    /// passes while the operation is in a queue, it fails when it is started, and sends nothing.
    ///
    /// The time starts when the operation becomes ready. In a queue, that is when the operation has been added and its
    /// dependencies have finished. So the wait for a place counts. The time starts exactly when `isReady` is first read
    /// as `true`. A queue reads it as soon as it has the operation. If you read it earlier, the time starts then. If
    /// nothing reads it, the time starts with the operation.
    public var deadline: Duration? { didSet { changed() } }

    /// The longest time of a stage of your own code. None by default.
    ///
    /// A stage that takes longer is left behind, and the attempt fails as ``RequestError/Code/timedOut`` of that stage.
    /// A stage with a limit runs in a Task of its own.
    public var stageTimeLimits: [UserStage: Duration] = [:] { didSet { changed() } }

    // MARK: Sizes

    /// The largest body that is read into memory, in bytes after decompression. 64 MiB by default. `nil` means no
    /// bound. It does not apply to bodies that go to a file or a consumer.
    public var maximumBodySize: Int? = 64 << 20 { didSet { changed() } }

    /// How many bytes of a decoded body may come from one byte that was received. 256 by default. `nil` means no limit.
    ///
    /// ``TransferLimits/maximumDecompressionRatio`` says how they are counted. ``URLSessionTransport`` cannot count them.
    public var maximumDecompressionRatio: Int? = 256 { didSet { changed() } }

    /// How many bytes of a rejected response are read, so that its connection stays usable. 64 KiB by default. At 0 the
    /// connection is closed at once. The error keeps 4 KiB of them.
    public var errorBodyLimit: Int = 64 << 10 { didSet { changed() } }

    /// Makes an error from the body of a response with a rejected status. It becomes the cause of the ``RequestError``.
    /// `nil`, none, by default.
    public var errorBodyDecoder: ErrorBodyDecoder? { didSet { changed() } }

    // MARK: Queues and callbacks

    /// The queue on which `whenFinished` closures run. By default a serial queue that all operations share.
    public var completionQueue: DispatchQueue = DispatchQueue.completions { didSet { changed() } }

    /// Called for every step of every request. `nil` by default.
    ///
    /// It runs on a serial queue of its own, one event at a time, over all requests of this configuration and of its copies.
    /// The steps of one request come in order. A slow listener delays no request. When 10,000 events wait for it, new ones are
    /// dropped, except ``RequestEvent/Step/ended(_:)``; ``RequestEvent/missed`` counts them. ``deliverEvents()`` waits for it.
    public var onEvent: (@Sendable (RequestEvent) -> Void)? {
        get { eventListener?.body }
        set { eventListener = newValue.map { EventListener($0) } }
    }

    private(set) var eventListener: EventListener? { didSet { changed() } }

    /// What learns of each request besides ``onEvent``. None by default.
    package var instruments: [RequestInstrument] = [] { didSet { changed() } }

    /// Called for bytes sent and received, at most about 20 times a second for each request. `nil` by default.
    ///
    /// It runs on the Task that performs the transfer. That is the operation's Task, or a Task of the attempt if there
    /// is an ``attemptTimeLimit``.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? { didSet { changed() } }

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
        stageQueues[stage]
    }

    /// Runs a stage on an operation queue, overridden or not. If the queue cancels or drops the work, the operation
    /// ends as cancelled.
    ///
    /// - Parameters:
    ///   - queue: The queue. `nil` means the Task of the operation.
    ///   - stage: The stage.
    public mutating func setQueue(_ queue: OperationQueue?, for stage: UserStage) {
        stageQueues[stage] = queue
    }

    private var stageQueues: [UserStage: OperationQueue] = [:] { didSet { changed() } }

    /// What answers challenges of servers, for requests that no adapter sees: those after a redirect, and those of tus. It is
    /// also one of the adapters and deciders.
    var authentication: ServerAuthentication? { didSet { changed() } }

    /// Whether the stage is awaited directly, without a queue and a time limit.
    func runsDirectly(_ stage: UserStage) -> Bool {
        stageQueues.isEmpty && stageTimeLimits.isEmpty || stageQueues[stage] == nil && stageTimeLimits[stage] == nil
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

    private mutating func changed() {
        shared = Locked(nil)
    }

    /// These values on the heap.
    var settings: RequestSettings {
        guard let shared else { return RequestSettings(self) }
        return shared.withLock { known in
            if let known { return known }
            var copy = self
            copy.shared = nil
            let settings = RequestSettings(copy)
            known = settings
            return settings
        }
    }
}

/// A configuration on the heap. All operations that were made with the same value hold the same one.
final class RequestSettings: Sendable {
    let configuration: RequestConfiguration
    fileprivate let trust: Box<TrustPolicy>?
    /// Whether the adapters allow their request to be sent a second time unchanged.
    fileprivate let hasRepeatableAdapters: Bool

    fileprivate init(_ configuration: RequestConfiguration) {
        self.configuration = configuration
        trust = configuration.trust.map(Box.init)
        hasRepeatableAdapters = configuration.adapters.allSatisfy(\.isRepeatable)
    }

    /// The decision of the policy and the deciders.
    func retryDecision(after failure: AttemptFailure) async -> RetryDecision {
        var decision = configuration.retryPolicy.decision(after: failure, using: configuration.randomSource)
        for decider in configuration.retryDeciders {
            decision = await decider.decision(after: failure, insteadOf: decision)
        }
        return decision
    }
}

extension TransportTask {
    /// Fills in what the task does not set itself.
    ///
    /// - Parameter isProcessedByAdapters: Whether nothing but the configuration's adapters made the request.
    mutating func complete(from settings: RequestSettings, isProcessedByAdapters: Bool) {
        complete(
            settings.configuration.limits(for: self), trust: settings.trust,
            onProgress: settings.configuration.onProgress,
            mayBeSentAgain: isProcessedByAdapters && settings.hasRepeatableAdapters)
    }
}

extension RequestConfiguration: CustomStringConvertible, OpaqueReflectable {
    /// One line: the transport, the adapters, the number of retries and the deadline.
    public var description: String {
        var parts = ["\(type(of: transport))"]
        if !adapters.isEmpty { parts.append("adapters: \(adapters.map(\.description).joined(separator: "; "))") }
        parts.append("\(retryPolicy.maximumRetries) retries")
        if let deadline { parts.append("deadline \(deadline)") }
        return parts.joined(separator: ", ")
    }
}
