/// The identity of a request. It stays the same over all retries and redirects.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    /// A number that no other request of the process has.
    public let rawValue: UInt64

    private static let last = Locked<UInt64>(0)

    init() {
        rawValue = Self.last.withLock { last in
            last += 1
            return last
        }
    }

    /// The number in decimal.
    public var description: String { String(rawValue) }
}
