import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct LinkTableTests {
    /// IFF_UP, IFF_RUNNING
    private static let usable: UInt32 = 0x1 | 0x40

    private static func links(_ flags: [UInt32]) -> [LinkTable.Link] {
        flags.enumerated().map { LinkTable.Link(name: "n\($0.offset + 1)", flags: $0.element, hardware: 1) }
    }

    /// The reading of a table in which the second link is a wireless one.
    private static func reading(
        _ flags: [UInt32] = [usable], addressed: Set<String> = ["n1"], routed: Set<String> = []
    ) -> NetworkPath.Reading {
        LinkTable(links: links(flags), addressed: addressed, routed: routed)
            .reading { $0 == "n2" ? "DEVTYPE=wlan" : "" }
    }

    @Test func `Without anything nothing can be reached`() {
        #expect(Self.reading([], addressed: []) == NetworkPath.Reading(level: .none, interface: .other))
    }

    @Test(
        arguments: [
            ([], [], .none), (["n1"], [], .local), (["n1"], ["n1"], .routed), ([], ["n1"], .none),
        ] as [(Set<String>, Set<String>, NetworkPath.Level)])
    func `A link needs an address and for what is beyond a route`(
        addressed: Set<String>, routed: Set<String>, level: NetworkPath.Level
    ) {
        #expect(Self.reading(addressed: addressed, routed: routed).level == level)
    }

    @Test(
        arguments: [
            (0x1 | 0x40, true), (0x1 | 0x40 | 0x10000, true), (0x1, false), (0x40, false), (0x1 | 0x40 | 0x8, false),
            (0, false),
        ] as [(UInt32, Bool)])
    func `A link is usable if it is up and runs and is no loopback`(flags: UInt32, isUsable: Bool) {
        #expect((Self.reading([flags]).level == .local) == isUsable)
    }

    @Test(arguments: [([], .none), (["n2"], .none), (["n1"], .routed)] as [(Set<String>, NetworkPath.Level)])
    func `An address that holds on its link only counts with a default route by it`(
        routed: Set<String>, level: NetworkPath.Level
    ) {
        let table = LinkTable(links: Self.links([Self.usable]), linkAddressed: ["n1"], routed: routed)
        #expect(table.reading { _ in "" }.level == level)
    }

    @Test func `A route by another link does not count for this one`() {
        #expect(Self.reading([Self.usable, Self.usable], routed: ["n2"]).level == .local)
    }

    @Test func `A route by a link that has lost its carrier does not count for another`() {
        #expect(Self.reading([Self.usable, 0x1], addressed: ["n1", "n2"], routed: ["n2"]).level == .local)
    }

    @Test func `A route whose first link is switched off counts for the others`() {
        #expect(Self.reading([Self.usable, 0], routed: ["n2"]).level == .routed)
    }

    @Test func `A machine with two links is cut off when both are down`() {
        #expect(Self.reading([0, 0], addressed: ["n1", "n2"], routed: ["n1"]).level == .none)
    }

    @Test(
        arguments: [
            ([], .other), (["n1", "n2"], .wired), (["n2"], .wifi),
        ] as [(Set<String>, Reachability.Interface)])
    func `The interface is the oldest`(addressed: Set<String>, interface: Reachability.Interface) {
        #expect(Self.reading([Self.usable, Self.usable], addressed: addressed).interface == interface)
    }

    @Test func `The interface is that of the default route`() {
        #expect(
            Self.reading([Self.usable, Self.usable], addressed: ["n1", "n2"], routed: ["n2"])
                == NetworkPath.Reading(level: .routed, interface: .wifi))
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

    // MARK: The kernel's files

    @Test func `A default route has its link`() {
        var table = LinkTable()
        table.addRoutes(
            ipv4: """
                Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT  \n\
                eth0\t00000000\t0200C90A\t0003\t0\t0\t0\t00000000\t0\t0\t0  \n\
                eth1\t0000C90A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0  \n\
                eth2\t00000000\t0200C90A\t0003\t0\t0\t0\t00000080\t0\t0\t0  \n
                """)
        #expect(table.routed == ["eth0"])
    }

    @Test func `A default route of IPv6 has its link`() {
        var table = LinkTable()
        table.addRoutes(ipv6: Self.ipv6Route("00", link: "eth0") + Self.ipv6Route("40", link: "eth1"))
        #expect(table.routed == ["eth0"])
    }

    @Test func `Blanks in a row separate two words`() {
        var table = LinkTable()
        table.addRoutes(ipv4: "eth0  00000000 \t0200C90A\t0003\t0\t0\t0\t00000000\n")
        #expect(table.routed == ["eth0"])
    }

    @Test func `A default route that leads nowhere is none`() {
        var table = LinkTable()
        table.addRoutes(
            ipv4: """
                *\t00000000\t00000000\t0001\t0\t0\t50\t00000000\t0\t0\t0\n\
                eth0\t00000000\t00000000\t0201\t0\t0\t51\t00000000\t0\t0\t0\n
                """)
        table.addRoutes(ipv6: Self.ipv6Route("00", flags: "00200200", link: "lo"))
        #expect(table.routed.isEmpty)
    }

    @Test(arguments: [("00", ["eth0"]), ("40", ["eth0"]), ("20", []), ("10", [])] as [(String, Set<String>)])
    func `An address of IPv6 that holds on its link only does not count`(scope: String, addressed: Set<String>) {
        var table = LinkTable()
        table.addAddresses(ipv6: "fd000000000000000000000000000001 04 40 \(scope) 80     eth0\n")
        #expect(table.addressed == addressed)
    }

    @Test func `An address that is not usable yet does not count`() {
        var table = LinkTable()
        table.addAddresses(ipv6: "fd000000000000000000000000000001 04 40 00 c0     eth0\n")
        #expect(table.addressed.isEmpty)
    }

    @Test func `Lines that are cut short are left out`() {
        let route = "eth0\t00000000\t0200C90A\t0003\t0\t0\t0\t0000000"
        let ipv6Route = Self.ipv6Route("00", link: "")
        let address = "fd000000000000000000000000000001 04 40 00 80 "
        for count in 0...ipv6Route.count {
            var table = LinkTable()
            table.addRoutes(ipv4: String(route.prefix(count)))
            table.addRoutes(ipv6: String(ipv6Route.prefix(count)))
            table.addAddresses(ipv6: String(address.prefix(count)))
            #expect(table.routed.isEmpty && table.addressed.isEmpty)
        }
    }

    #if os(Linux)
        @Test func `The table of this machine has a loopback`() throws {
            let table = try #require(LinkTable.read())
            // IFF_LOOPBACK
            #expect(table.links.contains { $0.flags & 0x8 != 0 })
        }

        @Test func `Each link of this machine that has an address is in its table`() throws {
            let table = try #require(LinkTable.read())
            #expect(table.addressed.union(table.linkAddressed).isSubset(of: table.links.map(\.name)))
        }
    #endif

    private static func ipv6Route(_ length: String, flags: String = "00000003", link: String) -> String {
        let none = String(repeating: "0", count: 32)
        return "\(none) \(length) \(none) 00 \(none) 00000400 00000001 00000000 \(flags) \(link)\n"
    }
}
