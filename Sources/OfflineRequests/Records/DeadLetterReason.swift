/// Why a record became a dead letter.
public struct DeadLetterReason: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The kinds of reason.
    public enum Kind: String, Sendable, Hashable, Codable {
        /// The server refused the request, or the classifier gave it up.
        case rejected
        /// The request cannot be sent at all.
        case unusable
        /// The payload of the message does not decode.
        case undecodable
        /// It expired, or it was tried too often.
        case expired
        /// Its bytes in the store are damaged.
        case damaged
    }

    /// The kind.
    public let kind: Kind
    /// One line that says more. The text of a handler's error is stored unchanged.
    public let detail: String
    /// The status of the response, if there was one.
    public let status: Int?

    /// Makes a reason.
    ///
    /// - Parameters:
    ///   - kind: The kind.
    ///   - detail: One line that says more. Put no credentials into it.
    ///   - status: The status of the response. `nil` by default.
    public init(_ kind: Kind, detail: String, status: Int? = nil) {
        self.kind = kind
        self.detail = detail
        self.status = status
    }

    /// The kind and the detail.
    public var description: String { "\(kind.rawValue): \(detail)" }
}
