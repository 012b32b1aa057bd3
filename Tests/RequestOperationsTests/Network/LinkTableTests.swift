import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct LinkTableTests {
    private static func link(_ index: Int32, _ isUsable: Bool = true) -> RouteMessage {
        .link(.init(index: index, name: "n\(index)", hardware: 1, isUsable: isUsable))
    }

    private static func address(_ link: Int32, _ last: UInt8 = 1) -> RouteMessage.Address {
        .init(link: link, bytes: [10, 0, 0, last])
    }

    private static func route(_ link: Int32, priority: UInt32 = 0) -> RouteMessage.Route {
        .init(links: link == 0 ? [] : [link], family: 2, priority: priority)
    }

    /// The level after each message. The second link is a wireless one.
    private static func levels(_ messages: [RouteMessage]) -> [NetworkPath.Level] {
        readings(messages).map(\.level)
    }

    private static func readings(_ messages: [RouteMessage]) -> [NetworkPath.Reading] {
        var table = LinkTable()
        return messages.map { message in
            table.apply(message) { $0.index == 2 ? .wifi : .wired }
            return table.reading
        }
    }

    @Test func `Without anything nothing can be reached`() {
        #expect(LinkTable().reading == NetworkPath.Reading(level: .none, interface: .other))
    }

    @Test func `A link needs an address and for what is beyond a route`() {
        #expect(
            Self.levels([Self.link(1), .address(Self.address(1)), .defaultRoute(Self.route(1))])
                == [.none, .local, .routed])
    }

    @Test func `The order in which they are told does not matter`() {
        #expect(
            Self.levels([.defaultRoute(Self.route(1)), .address(Self.address(1)), Self.link(1)])
                == [.none, .none, .routed])
    }

    @Test func `A link that loses its carrier keeps its addresses and routes`() {
        #expect(
            Self.levels([
                Self.link(1), .address(Self.address(1)), .defaultRoute(Self.route(1)), Self.link(1, false),
                Self.link(1),
            ]) == [.none, .local, .routed, .none, .routed])
    }

    @Test func `A cable that is put back is a rise beside a network that leads nowhere`() {
        #expect(
            Self.levels([
                Self.link(3), .address(Self.address(3)), Self.link(1), .address(Self.address(1)),
                .defaultRoute(Self.route(1)), Self.link(1, false), Self.link(1),
            ]) == [.none, .local, .local, .local, .routed, .local, .routed])
    }

    @Test(
        arguments: [
            (link(1), true), (link(1, false), true), (link(2), true), (.linkRemoved(index: 1), true),
            (.address(address(1)), true), (.addressRemoved(address(1)), true), (.defaultRoute(route(1)), true),
            (.defaultRouteRemoved(route(1)), true), (.end, false), (.linkRemoved(index: 9), false),
            (.addressRemoved(address(9)), false),
        ] as [(RouteMessage, Bool)])
    func `What changes something is news`(message: RouteMessage, isNews: Bool) {
        var table = LinkTable()
        if message != Self.link(1) { table.apply(Self.link(1)) { _ in .wired } }
        if case .addressRemoved = message { table.apply(.address(Self.address(1))) { _ in .wired } }
        #expect(table.apply(message) { _ in .wired } == isNews)
    }

    @Test(arguments: [link(1), .address(address(1)), .defaultRoute(route(1))])
    func `What is known already is no news`(message: RouteMessage) {
        var table = LinkTable()
        table.apply(message) { _ in .wired }
        #expect(table.apply(message) { _ in .wired } == false)
    }

    @Test func `A link that is removed takes its addresses along`() {
        #expect(
            Self.levels([Self.link(1), .address(Self.address(1)), .linkRemoved(index: 1), Self.link(1)])
                == [.none, .local, .none, .none])
    }

    @Test func `The last address that goes makes the difference`() {
        #expect(
            Self.levels([
                Self.link(1), .address(Self.address(1)), .address(Self.address(1, 2)), .addressRemoved(Self.address(1)),
                .addressRemoved(Self.address(1, 2)),
            ]) == [.none, .local, .local, .local, .none])
    }

    @Test func `The last route that goes makes the difference`() {
        #expect(
            Self.levels([
                Self.link(1), .address(Self.address(1)), .defaultRoute(Self.route(1)),
                .defaultRoute(Self.route(1, priority: 5)), .defaultRouteRemoved(Self.route(1)),
                .defaultRouteRemoved(Self.route(1, priority: 5)),
            ]) == [.none, .local, .routed, .routed, .routed, .local])
    }

    @Test func `A route by another link does not count for this one`() {
        #expect(
            Self.levels([Self.link(1), .address(Self.address(1)), .defaultRoute(Self.route(2))])
                == [.none, .local, .local])
    }

    @Test func `A route that names no link counts for each`() {
        #expect(Self.levels([Self.link(1), .address(Self.address(1)), .defaultRoute(Self.route(0))]).last == .routed)
    }

    @Test(arguments: [(1, .routed), (2, .routed), (3, .local)] as [(Int32, NetworkPath.Level)])
    func `A route by several links counts for these`(link: Int32, level: NetworkPath.Level) {
        let route = RouteMessage.Route(links: [1, 2], family: 2, priority: 0)
        #expect(Self.levels([Self.link(link), .address(Self.address(link)), .defaultRoute(route)]).last == level)
    }

    @Test func `A route by several links goes with one that is removed`() {
        let route = RouteMessage.Route(links: [1, 2], family: 2, priority: 0)
        #expect(
            Self.levels([
                Self.link(1), .address(Self.address(1)), .defaultRoute(route), .linkRemoved(index: 2),
            ]).last == .local)
    }

    @Test func `A machine with two links is cut off when both are down`() {
        #expect(
            Self.levels([
                Self.link(1), Self.link(2), .address(Self.address(1)), .address(Self.address(2)), Self.link(1, false),
                Self.link(2, false),
            ]) == [.none, .none, .local, .local, .local, .none])
    }

    @Test func `The interface is that of the default route`() {
        let readings = Self.readings([
            Self.link(1), Self.link(2), .address(Self.address(1)), .address(Self.address(2)),
            .defaultRoute(Self.route(2)), .defaultRouteRemoved(Self.route(2)),
        ])
        #expect(readings.map(\.interface) == [.other, .other, .wired, .wired, .wifi, .wired])
    }

    @Test(
        arguments: [
            (1, "DEVTYPE=wlan\nINTERFACE=wlp2s0\nIFINDEX=3\n", .wifi), (1, "INTERFACE=eth0\nIFINDEX=2\n", .wired),
            (519, "DEVTYPE=wwan\nINTERFACE=wwan0\n", .cellular), (65534, "INTERFACE=tun0\n", .other), (1, "", .wired),
            (1, "DEVTYPE=wlanx\n", .wired),
        ] as [(UInt16, String, Reachability.Interface)])
    func `The kind of a link is what its driver says`(
        hardware: UInt16, description: String, interface: Reachability.Interface
    ) {
        #expect(Reachability.Interface(hardware: hardware, description: description) == interface)
    }
}
