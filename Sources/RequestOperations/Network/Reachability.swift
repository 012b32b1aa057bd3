/// Whether the machine is connected to a network.
public enum Reachability: Sendable, Hashable {
    /// There is no network. No interface except the machine's own loopback is up and has an address.
    case unreachable
    /// There is a network on an interface. It does not tell whether a host can be reached through it.
    case reachable(Interface)

    /// The kinds of interface.
    public enum Interface: Sendable, Hashable {
        /// Ethernet, or an interface that looks like it, such as that of a container.
        case wired
        /// A wireless local network.
        case wifi
        /// A cellular network.
        case cellular
        /// Another kind, or an unknown one.
        case other
    }

    /// Whether there is a network.
    public var isReachable: Bool { self != .unreachable }

    /// The kind of interface; `nil` without a network.
    public var interface: Interface? {
        if case .reachable(let interface) = self { interface } else { nil }
    }
}
