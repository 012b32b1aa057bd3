/// How requests are made: a value that operations copy, so that a later change touches no operation that exists.
///
/// ```swift
/// var configuration = RequestConfiguration.default
/// configuration.adapters = [.bearerToken { try await tokens.current() }]
/// configuration.retryPolicy.maximumRetries = 5
/// ```
public struct RequestConfiguration: Sendable {
    /// All values, in one shared object that is copied when it is changed: every operation holds a configuration.
    private var storage = Storage(Values())

    // MARK: What to send, and how

    /// Carries requests over the network. ``PlatformTransport/shared`` by default.
    public var transport: any Transport {
        get { storage.values.transport }
        set { edit { $0.transport = newValue } }
    }

    /// Change each request before it is sent, in order, at every attempt. None by default.
    public var adapters: [RequestAdapter] {
        get { storage.values.adapters }
        set { edit { $0.adapters = newValue } }
    }

    /// Judges the head of each response. ``ResponseValidation/successfulStatus`` by default.
    public var validation: ResponseValidation {
        get { storage.values.validation }
        set { edit { $0.validation = newValue } }
    }

    /// How redirects are followed. At most 10 by default, never from https to http.
    public var redirects: RedirectPolicy {
        get { storage.values.redirects }
        set { edit { $0.redirects = newValue } }
    }

    /// Bounds the attempts in flight, all or for each host; shared by the operations that are given it. `nil`, no bound,
    /// by default.
    public var limiter: RequestLimiter? {
        get { storage.values.limiter }
        set { edit { $0.limiter = newValue } }
    }

    /// A request that waited for its slot longer than this is processed again, lest its token be stale, and keeps its place
    /// in the line; once for each attempt. 30 s by default.
    public var freshness: Duration {
        get { storage.values.freshness }
        set { edit { $0.freshness = newValue } }
    }

    // MARK: Retry

    /// Whether and when a failed attempt is followed by another. Three retries with backoff by default.
    public var retryPolicy: RetryPolicy {
        get { storage.values.retryPolicy }
        set { edit { $0.retryPolicy = newValue } }
    }

    /// Where the jitter comes from, shared by all operations that are given it. The system's generator by default.
    public var randomSource: RandomSource {
        get { storage.values.randomSource }
        set { edit { $0.randomSource = newValue } }
    }

    /// The clock of all waits and of the limits that the operation keeps; those of a transport run in real time. The
    /// continuous clock by default.
    public var clock: any Clock<Duration> {
        get { storage.values.clock }
        set { edit { $0.clock = newValue } }
    }

    // MARK: Time limits

    /// The longest time for name look-up, connection and TLS handshake of an attempt. 15 s by default; `nil` is none.
    public var connectTimeLimit: Duration? {
        get { storage.values.connectTimeLimit }
        set { edit { $0.connectTimeLimit = newValue } }
    }

    /// The longest time of an attempt without a byte in either direction. 60 s by default; `nil` is none. A
    /// `timeoutInterval` that a request sets itself, other than Foundation's default of 60 s, takes its place.
    public var idleTimeLimit: Duration? {
        get { storage.values.idleTimeLimit }
        set { edit { $0.idleTimeLimit = newValue } }
    }

    /// The longest time of an attempt, from its slot to the last byte, redirects included; the attempt then fails as
    /// ``RequestError/Code/timedOut`` and can be retried. `nil`, none, by default.
    public var attemptTimeLimit: Duration? {
        get { storage.values.attemptTimeLimit }
        set { edit { $0.attemptTimeLimit = newValue } }
    }

    /// The longest time of the whole request from its start, all attempts and waits included; then it fails as
    /// ``RequestError/Code/timedOut`` for good, whatever runs. `nil`, none, by default.
    public var deadline: Duration? {
        get { storage.values.deadline }
        set { edit { $0.deadline = newValue } }
    }

    /// The longest time of a stage of your own code, `process`, `makeTask`, `decode` or `retryDecision`: beyond it the
    /// stage is abandoned and the attempt fails as ``RequestError/Code/timedOut`` of that stage. None by default.
    /// A stage with a limit runs in a Task of its own.
    public var stageTimeLimits: [RequestError.Stage: Duration] {
        get { storage.values.stageTimeLimits }
        set { edit { $0.stageTimeLimits = newValue } }
    }

    // MARK: Sizes

    /// The largest body read into memory, in bytes after decompression. 64 MiB by default; `nil` is no bound. Bodies that
    /// go to a file or to a consumer are not bounded by it.
    public var maximumBodySize: Int? {
        get { storage.values.maximumBodySize }
        set { edit { $0.maximumBodySize = newValue } }
    }

    /// How many bytes of a rejected response are read to keep its connection usable. 64 KiB by default; at 0 the
    /// connection is closed at once. 4 KiB of them are kept in the error.
    public var errorBodyLimit: Int {
        get { storage.values.errorBodyLimit }
        set { edit { $0.errorBodyLimit = newValue } }
    }

    // MARK: Where code runs, and what it hears

    /// The queue on which `whenFinished` closures run. A global concurrent one by default.
    public var completionQueue: DispatchQueue {
        get { storage.values.completionQueue }
        set { edit { $0.completionQueue = newValue } }
    }

    /// Hears of every step of every request, in order for each request, on the Task of the operation; it must return soon.
    /// `nil` by default.
    public var onEvent: (@Sendable (RequestEvent) -> Void)? {
        get { storage.values.onEvent }
        set { edit { $0.onEvent = newValue } }
    }

    /// Hears of bytes sent and received, on the Task of the operation, at most about 20 times a second for each request.
    /// `nil` by default.
    public var onProgress: (@Sendable (TransferProgress) -> Void)? {
        get { storage.values.onProgress }
        set { edit { $0.onProgress = newValue } }
    }

    /// Makes a configuration with the defaults given at each property.
    public init() {}

    /// The defaults.
    public static let `default` = RequestConfiguration()

    /// The queue on which a stage runs, overridden or not; `nil`, the Task of the operation, by default.
    ///
    /// - Parameter stage: `process` or `retryDecision`.
    public func queue(for stage: RequestError.Stage) -> OperationQueue? {
        storage.values.stageQueues[stage]
    }

    /// Runs a stage, overridden or not, on an operation queue. A queue that cancels or drops the work ends the operation
    /// as cancelled.
    ///
    /// - Parameters:
    ///   - queue: The queue, or `nil` for the Task of the operation.
    ///   - stage: `process` or `retryDecision`; another stage is a programmer's error.
    public mutating func setQueue(_ queue: OperationQueue?, for stage: RequestError.Stage) {
        precondition(
            stage == .process || stage == .retryDecision, "Only process and retryDecision can be given a queue.")
        edit { $0.stageQueues[stage] = queue }
    }

    /// Whether the stage is awaited directly: no queue, no time limit.
    func runsDirectly(_ stage: RequestError.Stage) -> Bool {
        let values = storage.values
        return values.stageQueues.isEmpty && values.stageTimeLimits.isEmpty
            || values.stageQueues[stage] == nil && values.stageTimeLimits[stage] == nil
    }

    private mutating func edit(_ change: (inout Values) -> Void) {
        if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.values) }
        change(&storage.values)
    }

    /// The limits for a task that brings none of its own.
    func limits(for task: TransportTask) -> TransferLimits {
        let ownTimeout = task.request.timeoutInterval
        let isInMemory = if case .memory = task.destination { true } else { false }
        return TransferLimits(
            connect: connectTimeLimit, idle: ownTimeout == 60 ? idleTimeLimit : .timeout(ownTimeout),
            maximumBodySize: isInMemory ? maximumBodySize : nil, errorBodyLimit: errorBodyLimit)
    }
}

extension Duration {
    /// A time-out of Foundation's, of which zero, negative and endless ones mean none.
    fileprivate static func timeout(_ interval: TimeInterval) -> Duration? {
        interval > 0 && interval < 1e9 ? .seconds(interval) : nil
    }
}

extension RequestConfiguration {
    // Unchecked: written only while one configuration alone refers to it.
    private final class Storage: @unchecked Sendable {
        var values: Values

        init(_ values: Values) {
            self.values = values
        }
    }

    private struct Values {
        var transport: any Transport = PlatformTransport.shared
        var adapters: [RequestAdapter] = []
        var validation: ResponseValidation = ResponseValidation.successfulStatus
        var redirects: RedirectPolicy = RedirectPolicy()
        var limiter: RequestLimiter?
        var freshness: Duration = .seconds(30)
        var retryPolicy: RetryPolicy = RetryPolicy()
        var randomSource: RandomSource = RandomSource.system
        var clock: any Clock<Duration> = ContinuousClock()
        var connectTimeLimit: Duration? = .seconds(15)
        var idleTimeLimit: Duration? = .seconds(60)
        var attemptTimeLimit: Duration?
        var deadline: Duration?
        var stageTimeLimits: [RequestError.Stage: Duration] = [:]
        var maximumBodySize: Int? = 64 << 20
        var errorBodyLimit: Int = 64 << 10
        var completionQueue: DispatchQueue = DispatchQueue.global()
        var onEvent: (@Sendable (RequestEvent) -> Void)?
        var onProgress: (@Sendable (TransferProgress) -> Void)?
        var stageQueues: [RequestError.Stage: OperationQueue] = [:]
    }
}
