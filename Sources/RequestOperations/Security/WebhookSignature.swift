/// Signs webhooks, and checks those that were received, after Standard Webhooks 1.0 with symmetric keys (`v1`).
///
/// The signature covers the id, the time and the body. A sender uses
/// ``RequestAdapter/webhookSignature(_:date:)``; a receiver calls ``verify(_:fields:at:)``.
///
/// ```swift
/// let signature = try WebhookSignature(secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
/// configuration.adapters.append(.webhookSignature(signature))
/// ```
public struct WebhookSignature: Sendable {
    /// Why a secret cannot be used, or a webhook is not genuine.
    public enum Failure: Error, Hashable {
        /// A secret is not base64 of 24 to 64 bytes. The number says which one, from 0.
        case unusableSecret(Int)
        /// The id is empty or has a full stop, with which the same signature could stand for another webhook.
        case unusableID
        /// A field is missing. The value is its name.
        case missingField(String)
        /// The time in `webhook-timestamp` is no whole number of seconds.
        case malformedTimestamp
        /// The time differs too much from that of the receiver: someone may have sent an old webhook again.
        case outOfTime
        /// No signature is that of one of the secrets.
        case noMatch
    }

    /// How far the time of a webhook may be from that of the receiver. 5 minutes by default.
    public var tolerance = Duration.seconds(300)

    private let keys: [Data]

    /// Takes secrets. A webhook is signed with each, and accepted with any. So a secret can be replaced while both are in use.
    ///
    /// - Parameter secrets: Base64 of 24 to 64 random bytes each, with or without `whsec_` before it. At least one.
    /// - Throws: ``Failure/unusableSecret(_:)``.
    public init(secrets: [String]) throws(Failure) {
        guard !secrets.isEmpty else { throw .unusableSecret(0) }
        var keys: [Data] = []
        for (number, secret) in secrets.enumerated() {
            let text = secret.hasPrefix("whsec_") ? String(secret.dropFirst(6)) : secret
            guard let key = Data(base64Encoded: text), (24...64).contains(key.count) else {
                throw .unusableSecret(number)
            }
            keys.append(key)
        }
        self.keys = keys
    }

    /// The fields of a webhook.
    ///
    /// - Parameters:
    ///   - body: The body, byte for byte as it is sent.
    ///   - id: The identity of the webhook, the same for each attempt. It must not have a full stop.
    ///   - date: The time of the attempt.
    /// - Returns: `webhook-id`, `webhook-timestamp` and `webhook-signature`.
    /// - Throws: ``Failure/unusableID``.
    public func fields(for body: Data, id: String, at date: Date) throws(Failure) -> [String: String] {
        guard Self.isUsable(id) else { throw .unusableID }
        let timestamp = String(Int64(date.timeIntervalSince1970))
        let signatures = keys.map { "v1," + code(of: body, id, timestamp, key: $0).base64EncodedString() }
        return [
            "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.joined(separator: " "),
        ]
    }

    /// Checks a webhook. Compares in a time that does not depend on where signatures differ.
    ///
    /// - Parameters:
    ///   - body: The body, byte for byte as it was received.
    ///   - fields: The fields of the request. The case of their names does not matter.
    ///   - date: The present time.
    /// - Throws: ``Failure``. The webhook must then be refused.
    public func verify(_ body: Data, fields: [String: String], at date: Date = Date()) throws(Failure) {
        let fields = Dictionary(fields.map { ($0.lowercased(), $1) }) { first, _ in first }
        func field(_ name: String) throws(Failure) -> String {
            guard let value = fields[name] else { throw .missingField(name) }
            return value
        }
        let (id, timestamp) = (try field("webhook-id"), try field("webhook-timestamp"))
        guard Self.isUsable(id) else { throw .unusableID }
        let given = try field("webhook-signature").split(separator: " ").compactMap { signature in
            signature.hasPrefix("v1,") ? Data(base64Encoded: String(signature.dropFirst(3))) : nil
        }
        guard let seconds = Int64(timestamp), String(seconds) == timestamp else { throw .malformedTimestamp }
        guard abs(date.timeIntervalSince1970 - Double(seconds)) <= tolerance.inSeconds else { throw .outOfTime }
        let expected = keys.map { code(of: body, id, timestamp, key: $0) }
        let isGenuine = given.contains { signature in expected.contains { $0.isSameInConstantTime(as: signature) } }
        guard isGenuine else { throw .noMatch }
    }

    private func code(of body: Data, _ id: String, _ timestamp: String, key: Data) -> Data {
        MessageAuthentication.code(of: [Data("\(id).\(timestamp).".utf8), body], key: key)
    }

    private static func isUsable(_ id: String) -> Bool { !id.isEmpty && !id.contains(".") }
}

extension WebhookSignature: CustomStringConvertible, OpaqueReflectable {
    /// The number of secrets, never a secret.
    public var description: String { "WebhookSignature(\(keys.count) secrets)" }
}
