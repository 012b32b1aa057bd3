/// Something that must hold before a record is sent.
public struct OfflineConstraint: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The name, which is stored with the record.
    public let name: String

    /// Makes a constraint of your own. ``OfflineConfiguration/conditions`` says when it is met.
    public init(_ name: String) {
        self.name = name
    }

    /// The machine is connected to a network. A request to a loopback address always meets it.
    public static let reachable = OfflineConstraint("reachable")
    /// The network is not cellular.
    public static let unmetered = OfflineConstraint("unmetered")

    /// The name.
    public var description: String { name }
}
