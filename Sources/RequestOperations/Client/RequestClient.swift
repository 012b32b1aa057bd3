/// Makes and sends the requests of a program, or those to one server. It keeps their common settings and tracks the requests in
/// flight.
///
/// ```swift
/// let client = RequestClient(baseURL: URL(string: "https://api.example.com/v1")!)
/// client.setField("Bearer \(token)", for: "Authorization")
/// let users = try await client.get("users", as: [User].self)
/// ```
///
/// A request takes its settings from three places. The client's ``defaults`` come first, then what hooks change in them. The
/// request's own values win over both: those of its call, of its ``Endpoint``, and of its ``RequestOptions``. A request copies
/// the settings when it is made. Later changes do not affect it.
///
/// Each request is a ``URLRequestOperation``. The `async` calls add it to the ``queue`` and await its value. The functions
/// that are named `operation` only make it. Add it to any queue, or give it to ``submit(_:tag:whenFinished:)``.
///
/// A program can have several clients. All functions can be called from any thread.
public final class RequestClient: Sendable {
    /// A client for general use, without a base URL.
    public static let shared = RequestClient()

    /// The queue of the `async` calls and of ``submit(_:tag:whenFinished:)``.
    public let queue: RequestQueue

    let settings: Locked<Box<ClientSettings>>
    let table = Locked(SubmissionTable())
    let observers = Observers()
    let flights = Flights()

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - baseURL: The URL that paths are joined to. `nil` by default.
    ///   - configuration: How requests are made. ``RequestConfiguration/default`` if not given.
    ///   - queue: The queue of the client. A new one without a limit by default.
    public init(
        baseURL: URL? = nil, configuration: RequestConfiguration = .default, queue: RequestQueue = RequestQueue()
    ) {
        self.queue = queue
        var settings = ClientSettings(configuration: configuration)
        settings.defaults.baseURL = baseURL
        self.settings = Locked(Box(settings))
    }

    // MARK: Settings

    /// What requests have in common.
    ///
    /// To change several values in one step, change a copy and set it. If other threads change values too, use
    /// ``setField(_:for:)`` and its siblings, which keep all changes.
    public var defaults: RequestDefaults {
        get { settings.withLock { $0.value.defaults } }
        set { edit { $0.defaults = newValue } }
    }

    /// The URL that paths are joined to. A call with an absolute URL instead of a path needs no base URL. `nil` by default.
    public var baseURL: URL? {
        get { settings.withLock { $0.value.defaults.baseURL } }
        set { edit { $0.defaults.baseURL = newValue } }
    }

    /// Sets a header field of all requests. `nil` removes it. The case of names is ignored.
    public func setField(_ value: String?, for name: String) { edit { $0.defaults.setField(value, for: name) } }

    /// Sets a parameter of all requests. `nil` removes it.
    public func setParameter(_ value: ParameterValue?, for name: String) {
        edit { $0.defaults.parameters[name] = value }
    }

    /// Sets a value of the user info of all requests. `nil` removes it.
    public func setUserInfo(_ value: (any Sendable)?, for name: String) { edit { $0.defaults.userInfo[name] = value } }

    /// How requests are made. Its ``RequestConfiguration/completionQueue`` has no effect; see ``callbackQueue``.
    public var configuration: RequestConfiguration {
        get { settings.withLock { $0.value.configuration } }
        set { edit { $0.configuration = newValue } }
    }

    /// The queue on which completions, observers and subscriptions of requests are called. A serial queue of the client by
    /// default.
    ///
    /// For one request the calls come one at a time, in the order of its steps, with its completions last. On a concurrent queue,
    /// calls for different requests may overlap. Hooks, events and progress do not run there.
    public var callbackQueue: DispatchQueue {
        get { settings.withLock { $0.value.callbackQueue } }
        set { edit { $0.callbackQueue = newValue } }
    }

    /// Makes the decoder of values from JSON, such as one for dates in ISO 8601. A new `JSONDecoder` by default. Called once for
    /// each response. An ``Endpoint`` and a call with its own decoder do not use it.
    public var makeJSONDecoder: @Sendable () -> JSONDecoder {
        get { settings.withLock { $0.value.makeJSONDecoder } }
        set { edit { $0.makeJSONDecoder = newValue } }
    }

    /// Code that runs for each request; see ``RequestHook``. None by default.
    ///
    /// Appending to this property reads it and then sets it. If several threads append at once, a change can get lost.
    /// ``install(_:)`` keeps all changes.
    public var hooks: [RequestHook] {
        get { settings.withLock { $0.value.hooks } }
        set { edit { $0.hooks = newValue } }
    }

    /// Adds what a plugin bundles to all later requests. See ``ClientPlugin`` for the order.
    public func install(_ plugin: ClientPlugin) {
        edit { $0.plugins.append(plugin) }
        for observer in plugin.observers { addObserver(observer) }
    }

    /// Whether `async` calls share identical requests in flight, if their options do not say; see
    /// ``RequestSharing/identical``. `false` by default. A call with a decoder of its own shares only if its options say so.
    public var sharesIdenticalRequests: Bool {
        get { settings.withLock { $0.value.sharesIdenticalRequests } }
        set { edit { $0.sharesIdenticalRequests = newValue } }
    }

    // MARK: Log

    /// Whether each attempt and each wait is written as a line, and the end of a request that fails or is cancelled. `false`
    /// by default.
    ///
    /// A line has the time in UTC, the method, the location, the status, the size, the duration and the failure. It has no query,
    /// field or credential. ``EventLog`` writes all steps for programs.
    public var isConsoleLogEnabled: Bool {
        get { settings.withLock { $0.value.log.isEnabled } }
        set { edit { $0.log.isEnabled = newValue } }
    }

    /// How many bytes of a request's and a response's body are written, after a line of their own. 0, no body, by default.
    ///
    /// Only JSON and forms are written, without the values that ``Redaction/default`` hides. For other bodies, only the size is
    /// written.
    public var loggedBodySize: Int {
        get { settings.withLock { $0.value.log.bodySize } }
        set { edit { $0.log.bodySize = newValue } }
    }

    /// Writes the lines of the log, one at a time, on a queue of its own. To standard error by default.
    ///
    /// A slow writer delays no request. Of more than 10,000 lines that wait for it, new ones are dropped, and a line says how
    /// many. The last lines may be written a moment after a request has its value.
    public var logWriter: @Sendable (String) -> Void {
        get { settings.withLock { $0.value.log.write } }
        set { edit { $0.log.write = newValue } }
    }

    /// Changes the settings. Replaced values are freed outside the lock, because freeing them may run the user's code.
    func edit(_ change: (inout ClientSettings) -> Void) {
        let old = settings.withLock { settings in
            let old = settings
            settings.edit { new in
                change(&new)
                new.allHooks = new.hooks + new.plugins.flatMap(\.hooks)
                new.generation += 1
            }
            return old
        }
        withExtendedLifetime(old) {}
    }
}

extension RequestClient: CustomStringConvertible, OpaqueReflectable {
    /// `RequestClient` and its defaults.
    public var description: String { "RequestClient(\(defaults))" }
}

extension RequestQueue {
    /// The queue of ``RequestClient/shared``.
    public static var shared: RequestQueue { RequestClient.shared.queue }
}

/// The settings of a ``RequestClient``. A request keeps a copy of the settings with which it was made.
struct ClientSettings: Sendable {
    var defaults = RequestDefaults()
    var configuration: RequestConfiguration
    var callbackQueue = DispatchQueue(label: "RequestOperations.RequestClient")
    var log = ConsoleLog()
    var makeJSONDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
    var hooks: [RequestHook] = []
    var plugins: [ClientPlugin] = []
    var sharesIdenticalRequests = false
    /// Counts the requests that end. `nil` if nobody wants that.
    var totals: Locked<TimelineSummary>?
    /// Grows with each change. Requests made with different settings are not identical.
    var generation = 0

    /// All hooks, in the order in which they apply.
    var allHooks: [RequestHook] = []

    /// The defaults of a request.
    ///
    /// - Parameter isMember: Whether a batch, a chain or a group starts it.
    func defaults(for options: RequestOptions, isMember: Bool) -> RequestDefaults {
        allHooks.reduce(into: defaults) { defaults, hook in
            if hook.applies(toMember: isMember), case .defaults(let change) = hook.work { change(&defaults, options) }
        }
    }

    /// Whether the defaults depend on who starts a request.
    var haveDefaultsOfThoseAlone: Bool {
        allHooks.contains { hook in
            if case .defaults = hook.work { hook.scope == .alone } else { false }
        }
    }
}
