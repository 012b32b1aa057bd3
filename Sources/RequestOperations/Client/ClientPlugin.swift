/// A bundle of what one feature adds to a ``RequestClient``, such as signing or a cache.
///
/// Plugins apply in the order in which they were installed. Within a request:
///
/// 1. Hooks come after those in ``RequestClient/hooks``.
/// 2. Adapters come after those of the request's configuration, so a later plugin sees what an earlier one did.
/// 3. Transport wrappers: the plugin that was installed last is the outermost and sees a request first.
/// 4. Deciders come after those of the configuration, so the last plugin has the last word.
/// 5. Observers are told like all others. The client keeps them.
public struct ClientPlugin: Sendable {
    /// See ``RequestClient/hooks``. None by default.
    public var hooks: [RequestHook] = []
    /// See ``RequestConfiguration/adapters``. None by default.
    public var adapters: [RequestAdapter] = []
    /// See ``RequestConfiguration/retryDeciders``. None by default.
    public var deciders: [RetryDecider] = []
    /// Observers of all requests. None by default.
    public var observers: [any RequestObserver] = []
    /// Makes the transport of a request from the one below. `nil` by default. Called once for each request.
    public var transport: (@Sendable (any Transport) -> any Transport)?

    /// Makes an empty plugin.
    public init() {}

    /// Adds what the plugin has to a configuration.
    func add(to configuration: inout RequestConfiguration) {
        if let transport { configuration.transport = transport(configuration.transport) }
        configuration.adapters += adapters
        configuration.retryDeciders += deciders
    }
}
