import Foundation
import RequestOperations

/// The handlers of messages by name and by type.
final class MessageHandlers: Sendable {
    /// The result of a handler.
    enum Handled: Sendable {
        /// It did the work.
        case done
        /// It wants this request to be sent.
        case request(URLRequest)
    }

    /// The payload of a message does not decode.
    struct Undecodable: Error {
        let underlying: any Error
    }

    /// A handler without the type of its message.
    struct Handler: Sendable {
        let name: String
        let type: ObjectIdentifier
        /// Encodes a message of that type.
        let encode: @Sendable (any Sendable) throws -> Data
        /// Decodes a payload.
        let decode: @Sendable (Data) throws -> any Sendable
        /// Decodes a payload and handles it. Throws ``Undecodable`` if it does not decode.
        let handle: @Sendable (Data) async throws -> Handled

        init<Message: Sendable>(
            _ name: String, encode: @escaping @Sendable (Message) throws -> Data,
            decode: @escaping @Sendable (Data) throws -> Message,
            handle: @escaping @Sendable (Message) async throws -> Handled
        ) {
            self.name = name
            type = ObjectIdentifier(Message.self)
            self.encode = { message in
                guard let message = message as? Message else { throw OfflineQueueError(.unregistered) }
                return try encode(message)
            }
            self.decode = decode
            self.handle = { payload in
                let message: Message
                do { message = try decode(payload) } catch { throw Undecodable(underlying: error) }
                return try await handle(message)
            }
        }
    }

    private struct State {
        var byName: [String: Handler] = [:]
        var nameByType: [ObjectIdentifier: String] = [:]
    }

    private let state = Locked(State())

    /// Adds a handler. It replaces an earlier one of that name or type.
    func add(_ handler: Handler) {
        state.withLock { state in
            state.byName[handler.name] = handler
            state.nameByType[handler.type] = handler.name
        }
    }

    /// The names of all handlers.
    var names: Set<String> { state.withLock { Set($0.byName.keys) } }

    subscript(name: String) -> Handler? { state.withLock { $0.byName[name] } }

    /// The handler for a type of message.
    func handler(for type: Any.Type) -> Handler? {
        state.withLock { state in state.nameByType[ObjectIdentifier(type)].flatMap { state.byName[$0] } }
    }
}
