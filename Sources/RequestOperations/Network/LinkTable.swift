/// The links of a machine with Linux, their addresses and default routes, as its kernel told of them: a pure value.
///
/// The kernel does not tell of everything. A link that is switched off or loses its last address loses its routes of IPv4
/// without a word, while one that loses its carrier keeps them; a route that replaces another says nothing of that. So this
/// does not guess: whoever hears that something has changed asks for everything again.
struct LinkTable {
    private struct Link: Equatable {
        let isUsable: Bool
        let interface: Reachability.Interface
    }

    private var links: [Int32: Link] = [:]
    private var addresses: Set<RouteMessage.Address> = []
    private var defaultRoutes: Set<RouteMessage.Route> = []

    /// Takes a message in.
    ///
    /// - Parameter interface: Says which kind of interface a link is.
    /// - Returns: Whether something has changed, so that more may have that the kernel does not tell of.
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
            // There may be others that differ from this one in what is not kept.
            defaultRoutes.remove(route)
            return true
        case .end, .refused, .overrun, .interrupted:
            return false
        }
    }

    /// What this means for a path: the links that can be used, and of these those with a default route first, and then the
    /// oldest.
    var reading: NetworkPath.Reading {
        let usable = Set(addresses.map(\.link)).filter { links[$0]?.isUsable == true }
        // One that names no link may go by any.
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
