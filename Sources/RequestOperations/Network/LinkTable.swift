/// The links of a Linux machine, their addresses and default routes, as reported by the kernel. A pure value.
///
/// The kernel does not report everything. A link that is switched off or loses its last address loses its IPv4 routes
/// without a message. A link that loses its carrier keeps its routes. The message of a new route does not say that it
/// replaces another. So this table does not guess: when it reports a change, the caller asks for everything again.
struct LinkTable {
    private struct Link: Equatable {
        let isUsable: Bool
        let interface: Reachability.Interface
    }

    private var links: [Int32: Link] = [:]
    private var addresses: Set<RouteMessage.Address> = []
    private var defaultRoutes: Set<RouteMessage.Route> = []

    /// Applies a message to the table.
    ///
    /// - Parameter interface: Returns the kind of interface of a link.
    /// - Returns: Whether something has changed. Then other things may have changed that the kernel does not report.
    @discardableResult
    mutating func apply(
        _ message: RouteMessage, interface: (RouteMessage.Link) -> Reachability.Interface
    ) -> Bool {
        switch message {
        case .link(let link):
            let new = Link(isUsable: link.isUsable, interface: interface(link))
            return links.updateValue(new, forKey: link.index) != new
        case .linkRemoved(let index):
            addresses = addresses.filter { $0.link != index }
            defaultRoutes = defaultRoutes.filter { !$0.links.contains(index) }
            return links.removeValue(forKey: index) != nil
        case .address(let address):
            return addresses.insert(address).inserted
        case .addressRemoved(let address):
            return addresses.remove(address) != nil
        case .defaultRoute(let route):
            return defaultRoutes.insert(route).inserted
        case .defaultRouteRemoved(let route):
            // There may be other routes that differ from this one only in fields that we do not keep.
            defaultRoutes.remove(route)
            return true
        case .end, .refused, .overrun, .interrupted:
            return false
        }
    }

    /// The state of the path: among the usable links, one with a default route comes first, and then the oldest.
    var reading: NetworkPath.Reading {
        let usable = Set(addresses.map(\.link)).filter { links[$0]?.isUsable == true }
        // A default route that names no link may use any link.
        let routed = usable.filter { link in
            defaultRoutes.contains { $0.links.isEmpty || $0.links.contains(link) }
        }
        guard let link = routed.min() ?? usable.min() else {
            return NetworkPath.Reading(level: .none, interface: .other)
        }
        return NetworkPath.Reading(
            level: routed.isEmpty ? .local : .routed, interface: links[link]?.interface ?? .other)
    }
}
