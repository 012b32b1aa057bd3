public import Foundation
public import RequestOperations

/// A request or message that the queue holds, as it was when it was read.
public struct OfflineRecord: Sendable, Identifiable {
    /// The identity of a record. No other record of the queue ever has it, before or after a restart.
    public struct ID: RawRepresentable, Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
        /// The number. It rises in the order of adding.
        public let rawValue: Int64

        /// Makes an id from its number.
        public init(rawValue: Int64) {
            self.rawValue = rawValue
        }

        /// Whether a record was added before another.
        public static func < (first: ID, second: ID) -> Bool { first.rawValue < second.rawValue }

        /// The number in decimal digits.
        public var description: String { String(rawValue) }
    }

    /// What a record is waiting for, or what has become of it.
    public enum State: Sendable, Hashable {
        /// It can be sent as soon as it is first in its lane.
        case pending
        /// It waits, at most until a date. `nil` means that only an event ends the wait.
        case waiting(until: Date?, WaitReason)
        /// It is being delivered.
        case inFlight
        /// It will not be delivered, unless you call ``OfflineRequestQueue/retry(_:)``.
        case dead(DeadLetterReason)
    }

    /// Why a record waits.
    public enum WaitReason: Int, Sendable, Hashable {
        /// Its earliest time has not come.
        case notBefore = 1
        /// The last attempt did not reach the server. A new network, or a success at the same host, ends the wait.
        case network = 2
        /// The server failed, or a handler threw an error. A success at the same host ends the wait.
        case backoff = 3
        /// The server asked for the wait by `Retry-After`. Nothing ends it early.
        case retryAfter = 4
        /// No handler is registered for its message.
        case handler = 5
        /// One of its constraints is not met.
        case constraint = 6
        /// Its lane is paused (``OfflineRequestQueue/pause(lane:)``).
        case paused = 7
    }

    /// The identity.
    public let id: ID
    /// The state when the record was read.
    public let state: State
    /// The request, or the message.
    public let content: Content
    /// The lane; `nil` for the one that all records without a lane share.
    public let lane: String?
    /// The tag, if the record has one.
    public let tag: String?
    /// The unique key, if the record has one.
    public let uniqueKey: String?
    /// The priority among the lanes.
    public let priority: Int
    /// When the record was added.
    public let added: Date
    /// When the record expires; `nil` means never.
    public let expires: Date?
    /// How many attempts have failed so far.
    public let attempts: Int
    /// The first line of the last failure, at most 500 characters; `nil` if none has failed.
    ///
    /// Failures of requests name no credentials. The text of a handler's error is stored unchanged.
    public let lastFailure: String?
    /// The value of the `Idempotency-Key` field of each delivery.
    public let idempotencyKey: String
    /// The length of the body or message in bytes.
    public let bodySize: Int64
    /// The constraints that must be met before the record is sent.
    public let constraints: Set<OfflineConstraint>
    /// The information that was added with the record, as it was encoded.
    public let userInfo: Data?

    /// What a record delivers. Bodies are not part of it: see ``OfflineRequestQueue/body(of:)``.
    public enum Content: Sendable {
        /// A request, without its body.
        case request(URLRequest)
        /// A message, by the name of its handler.
        case message(name: String)
    }

    /// Decodes the information that was added with the record; `nil` if there is none.
    ///
    /// - Throws: The error of the decoder.
    public func userInfo<Value: Decodable>(as type: Value.Type) throws -> Value? {
        try userInfo.map { try JSONDecoder().decode(type, from: $0) }
    }
}

extension OfflineRecord: CustomStringConvertible, OpaqueReflectable {
    /// The id, the content and the state, without user, query, fields, user info and the texts of failures.
    public var description: String { "record \(id): \(content), \(state.name), \(attempts) failed attempts" }
}

extension OfflineRecord.Content: CustomStringConvertible, OpaqueReflectable {
    /// The method of a request and its URL without user, query and fragment, or the name of a message.
    public var description: String {
        switch self {
        case .request(let request): Redaction.line(of: request)
        case .message(let name): "message \(name)"
        }
    }
}

extension OfflineRecord.State {
    /// The state without its details.
    fileprivate var name: String {
        switch self {
        case .pending: "pending"
        case .waiting(_, let reason): "waiting (\(reason))"
        case .inFlight: "in flight"
        case .dead(let reason): "dead (\(reason.kind))"
        }
    }
}
