public import Foundation

/// Handles the messages of one type. Subclass it, and override ``handle(_:)``.
///
/// ```swift
/// final class FavouriteHandler: OfflineMessageHandler<Favourite> {
///     override func handle(_ message: Favourite) async throws {
///         try await service.setFavourite(message.id, message.isOn)
///     }
/// }
/// queue.register(FavouriteHandler(name: "favourite"))
/// ```
///
/// A subclass must guard its mutable state, because several messages may be handled at the same time.
// `Sendable` without a check in subclasses is the usual rule of Swift: a subclass states it again if it adds state.
open class OfflineMessageHandler<Message: Codable & Sendable>: @unchecked Sendable {
    /// The name that is stored with each message. Never change it while messages are queued.
    public final let name: String
    /// The longest time of a call of ``handle(_:)``. `nil` means the limit of the configuration.
    public final let timeLimit: Duration?

    /// Makes a handler.
    ///
    /// - Parameters:
    ///   - name: The name that is stored with each message.
    ///   - timeLimit: The longest time of one call. The limit of the configuration by default.
    public init(name: String, timeLimit: Duration? = nil) {
        self.name = name
        self.timeLimit = timeLimit
    }

    /// Does the work of a message. When it returns, the message is delivered.
    ///
    /// It is called once for each delivery, which can be more than once for a message. An error is retried with backoff
    /// unless the classifier says otherwise. A call that takes too long is cancelled, left behind, and retried. The
    /// default traps.
    open func handle(_ message: Message) async throws {
        preconditionFailure("\(type(of: self)) must override handle(_:).")
    }

    /// Encodes a message for the store. JSON by default. Called once for each `add`.
    ///
    /// If it throws, `add` throws the same error.
    open func encode(_ message: Message) throws -> Data { try JSONEncoder().encode(message) }

    /// Decodes a stored message. JSON by default. Called once for each delivery.
    ///
    /// An error makes the message a dead letter, which keeps its bytes.
    open func decode(_ payload: Data) throws -> Message { try JSONDecoder().decode(Message.self, from: payload) }
}
