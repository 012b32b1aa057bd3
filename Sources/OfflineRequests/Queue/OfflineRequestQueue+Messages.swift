public import Foundation
public import RequestOperations

extension OfflineRequestQueue {
    /// Registers a closure that makes the request of a message. Messages that wait for it are sent from now on.
    ///
    /// ```swift
    /// queue.register(Favourite.self, name: "favourite") { message in
    ///     URLRequest(url: base.appending(path: "favourites/\(message.id)"))
    /// }
    /// ```
    ///
    /// Register at every start of the program. A message without a handler waits for one.
    ///
    /// - Parameters:
    ///   - type: The type of the messages.
    ///   - name: The name that is stored with each message. Never change it while messages are queued.
    ///   - timeLimit: The longest time of one call. That of the configuration by default.
    ///   - encode: Encodes a message. JSON by default.
    ///   - decode: Decodes a message. JSON by default. An error makes the message a dead letter.
    ///   - handler: Makes the request. Called once for each delivery. The request gets the idempotency key of the
    ///     message. An error is retried with backoff unless the classifier says otherwise.
    public func register<Message: Codable & Sendable>(
        _ type: Message.Type, name: String, timeLimit: Duration? = nil,
        encode: @escaping @Sendable (Message) throws -> Data = { try JSONEncoder().encode($0) },
        decode: @escaping @Sendable (Data) throws -> Message = { try JSONDecoder().decode(Message.self, from: $0) },
        handler: @escaping @Sendable (Message) async throws -> URLRequest
    ) {
        register(name, timeLimit, encode, decode, { .request(try await handler($0)) })
    }

    /// Registers a closure that does the work of a message itself. When it returns, the message is delivered.
    ///
    /// - Parameters:
    ///   - type: The type of the messages.
    ///   - name: The name that is stored with each message. Never change it while messages are queued.
    ///   - timeLimit: The longest time of one call. That of the configuration by default. A call that takes longer is
    ///     cancelled, left behind, and retried.
    ///   - encode: Encodes a message. JSON by default.
    ///   - decode: Decodes a message. JSON by default. An error makes the message a dead letter.
    ///   - handler: Does the work. Called once for each delivery, which can be more than once for a message. An error
    ///     is retried with backoff unless the classifier says otherwise.
    public func register<Message: Codable & Sendable>(
        _ type: Message.Type, name: String, timeLimit: Duration? = nil,
        encode: @escaping @Sendable (Message) throws -> Data = { try JSONEncoder().encode($0) },
        decode: @escaping @Sendable (Data) throws -> Message = { try JSONDecoder().decode(Message.self, from: $0) },
        handler: @escaping @Sendable (Message) async throws -> Void
    ) {
        register(
            name, timeLimit, encode, decode,
            { message in
                try await handler(message)
                return .done
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
                try await TimeLimit.run(limit, on: clock) { try await handle(message) }
            })
        dispatcher.search()
    }
}
