public import Foundation
import RequestOperations

extension OfflineRequestQueue {
    /// Registers a closure that delivers the messages of a type. Messages that wait for it are sent from now on.
    ///
    /// ```swift
    /// queue.register(Favourite.self, name: "favourite") { message in
    ///     URLRequest(url: base.appending(path: "favourites/\(message.id)"))
    /// }
    /// ```
    ///
    /// If the closure returns a `URLRequest`, the queue sends it, with the idempotency key of the message. If it
    /// returns anything else, or nothing, it has done the work itself, and the message is delivered.
    ///
    /// Register at every start of the program. A message without a handler waits for one.
    ///
    /// - Parameters:
    ///   - type: The type of the messages.
    ///   - name: The name that is stored with each message. Never change it while messages are queued.
    ///   - timeLimit: The longest time of one call. The limit of the configuration by default. A call that takes longer
    ///     is cancelled, left behind, and retried.
    ///   - encode: Encodes a message. JSON by default.
    ///   - decode: Decodes a message. JSON by default. An error makes the message a dead letter, which keeps its bytes.
    ///   - handler: Called once for each delivery, which can be more than once for a message. An error is retried with
    ///     backoff unless the classifier says otherwise.
    public func register<Message: Codable & Sendable, Outcome: Sendable>(
        _ type: Message.Type, name: String, timeLimit: Duration? = nil,
        encode: @escaping @Sendable (Message) throws -> Data = { try JSONEncoder().encode($0) },
        decode: @escaping @Sendable (Data) throws -> Message = { try JSONDecoder().decode(Message.self, from: $0) },
        handler: @escaping @Sendable (Message) async throws -> Outcome
    ) {
        register(
            name, timeLimit, encode, decode,
            { message in
                // An optional request counts as well: without one the work is done.
                (try await handler(message) as? URLRequest).map { .request($0) } ?? .done
            })
    }

    /// Registers a handler that is an object.
    ///
    /// - Parameter handler: The handler. The queue keeps it.
    public func register<Message: Codable & Sendable>(_ handler: OfflineMessageHandler<Message>) {
        register(
            handler.name, handler.timeLimit, { try handler.encode($0) }, { try handler.decode($0) },
            { message in
                try await handler.handle(message)
                return .done
            })
    }

    private func register<Message: Codable & Sendable>(
        _ name: String, _ timeLimit: Duration?, _ encode: @escaping @Sendable (Message) throws -> Data,
        _ decode: @escaping @Sendable (Data) throws -> Message,
        _ handle: @escaping @Sendable (Message) async throws -> MessageHandlers.Handled
    ) {
        let limit = timeLimit ?? configuration.handlerTimeLimit
        let clock = configuration.request.clock
        dispatcher.handlers.add(
            MessageHandlers.Handler(name, encode: encode, decode: decode) { message in
                try await TimeLimit.run(limit, on: clock, exceeded: HandlerTimedOut.init) { try await handle(message) }
            })
        dispatcher.search()
    }
}
