/// Whether the machine is connected to a network.
public enum Reachability: Sendable, Hashable {
    /// No network: no interface but those of the machine itself is up and has an address.
    case unreachable
    /// A network by way of an interface. Whether a host can be reached in it is not known until one tries.
    case reachable(Interface)

    /// The kinds of interface.
    public enum Interface: Sendable, Hashable {
        /// Ethernet, or what looks like it, such as that of a container.
        case wired
        /// A wireless local network.
        case wifi
        /// A cellular network.
        case cellular
        /// Another kind, or one that is not known.
        case other
    }

    /// Whether there is a network.
    public var isReachable: Bool { self != .unreachable }

    /// The kind of interface; `nil` without a network.
    public var interface: Interface? {
        if case .reachable(let interface) = self { interface } else { nil }
    }
}
