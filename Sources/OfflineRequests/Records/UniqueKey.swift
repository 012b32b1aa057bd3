/// A key for records that stand for the same thing.
///
/// ```swift
/// try await queue.add(Favourite(id: 7, isOn: false), unique: UniqueKey("favourite/7", .replace))
/// ```
///
/// Only records that have no outcome yet are compared.
public struct UniqueKey<Content: Sendable>: Sendable {
    /// What happens if there is a record with the key.
    public enum Policy: Sendable {
        /// The new record is not added. The id of the old one is returned.
        case keep
        /// The old records are removed and the new one is added at the end of its lane. A record in flight stays, also
        /// while it waits a few seconds for its next attempt.
        case replace
        /// The new record is added beside the old ones.
        case append
        /// The newest old record gets the content that the closure makes from both. It keeps its id and its place.
        ///
        /// From the new options, only the constraints and the user info count. The record keeps its lane, tag, priority and
        /// times.
        ///
        /// The record gets a new idempotency key, unless the merged request has one of its own. An attempt that was not
        /// answered may have acted on the old content.
        ///
        /// A record in flight is not merged: the new record is added behind it. The closure can be called several times
        /// if the old record changes meanwhile. An error that it throws is the error of `add`.
        case merge(@Sendable (_ old: Content, _ new: Content) throws -> Content)
    }

    /// The key.
    public let name: String
    /// What happens if there is a record with the key.
    public let policy: Policy

    /// Makes a key.
    ///
    /// - Parameters:
    ///   - name: The key.
    ///   - policy: What happens if there is a record with it. ``Policy/replace`` by default.
    public init(_ name: String, _ policy: Policy = .replace) {
        self.name = name
        self.policy = policy
    }
}
