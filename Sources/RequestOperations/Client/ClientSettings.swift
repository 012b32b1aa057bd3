/// What a ``RequestClient`` is set to. A request keeps a copy of the settings with which it was made.
struct ClientSettings: Sendable {
    var defaults = RequestDefaults()
    var configuration: RequestConfiguration
    var callbackQueue = DispatchQueue(label: "RequestOperations.RequestClient")
    var log = ConsoleLog()
    var makeJSONDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }
    var hooks: [RequestHook] = []
    var plugins: [ClientPlugin] = []
    var sharesIdenticalRequests = false
    /// Grows with each change. Requests of different settings are not the same.
    var generation = 0

    /// All hooks, in the order in which they apply.
    var allHooks: [RequestHook] { hooks + plugins.flatMap(\.hooks) }

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
