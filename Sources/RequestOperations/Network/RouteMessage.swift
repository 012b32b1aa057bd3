/// What the Linux kernel reports about links, addresses and routes: the part of rtnetlink(7) that matters for a path.
///
/// The kernel guarantees these layouts to programs. They are the same on every machine, in its own byte order.
enum RouteMessage: Equatable {
    /// A link exists, or has changed.
    case link(Link)
    case linkRemoved(index: Int32)
    case address(Address)
    case addressRemoved(Address)
    case defaultRoute(Route)
    case defaultRouteRemoved(Route)
    /// The last message of an answer.
    case end
    /// The kernel refused a question. The value is the error number.
    case refused(Int32)
    /// The kernel had more to report than it could keep.
    case overrun
    /// The data changed while the kernel reported it, so the answer may be incomplete.
    case interrupted

    struct Link: Equatable {
        let index: Int32
        let name: String
        /// The kind of hardware (ARPHRD_…).
        let hardware: UInt16
        /// Whether the link is up, has a carrier and leads out of the machine.
        let isUsable: Bool
    }

    struct Address: Hashable {
        let link: Int32
        let bytes: [UInt8]
    }

    struct Route: Hashable {
        /// The links that the route uses. Empty if it does not name them.
        let links: [Int32]
        let family: UInt8
        let priority: UInt32
    }

    /// The questions that we ask at first.
    enum Question: UInt16, CaseIterable {
        case links = 18
        case addresses = 22
        case routes = 26

        /// A request for all entries.
        func message(number: UInt32) -> [UInt8] {
            // The message is the header and the largest of the three fixed parts. That part is empty, which means any
            // family.
            var message = [UInt8](repeating: 0, count: 32)
            message.withUnsafeMutableBytes { bytes in
                bytes.storeBytes(of: UInt32(bytes.count), as: UInt32.self)
                bytes.storeBytes(of: rawValue, toByteOffset: 4, as: UInt16.self)
                // NLM_F_REQUEST and NLM_F_DUMP.
                bytes.storeBytes(of: 0x301, toByteOffset: 6, as: UInt16.self)
                bytes.storeBytes(of: number, toByteOffset: 8, as: UInt32.self)
            }
            return message
        }
    }

    /// Reads the messages of one datagram. It leaves out messages that are cut short or that we do not need.
    static func messages(in datagram: UnsafeRawBufferPointer) -> [RouteMessage] {
        var messages: [RouteMessage] = []
        var rest = datagram[...]
        while rest.count >= headerSize {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let length = Int(part.load32(at: 0))
            guard length >= headerSize, length <= part.count else { break }
            // NLM_F_MULTI and NLM_F_DUMP_INTR. Only the parts of an answer have NLM_F_MULTI.
            if part.load16(at: 6) & 0x12 == 0x12 { messages.append(.interrupted) }
            let body = UnsafeRawBufferPointer(rebasing: part[headerSize..<length])
            if let message = RouteMessage(type: part.load16(at: 4), body) { messages.append(message) }
            rest = rest.dropFirst((length + 3) & ~3)
        }
        return messages
    }

    private static let headerSize = 16

    private init?(type: UInt16, _ body: UnsafeRawBufferPointer) {
        switch type {
        case 2:  // NLMSG_ERROR; 0 would be an acknowledgement.
            guard body.count >= 4, body.load32(at: 0) != 0 else { return nil }
            // This subtraction cannot trap, for any value in the message.
            self = .refused(0 &- Int32(bitPattern: body.load32(at: 0)))
        case 3:  // NLMSG_DONE
            self = .end
        case 4:  // NLMSG_OVERRUN
            self = .overrun
        case 16, 17:  // RTM_NEWLINK, RTM_DELLINK
            guard let link = Link(body) else { return nil }
            self = type == 16 ? .link(link) : .linkRemoved(index: link.index)
        case 20, 21:  // RTM_NEWADDR, RTM_DELADDR
            guard let address = Address(body, isNew: type == 20) else { return nil }
            self = type == 20 ? .address(address) : .addressRemoved(address)
        case 24, 25:  // RTM_NEWROUTE, RTM_DELROUTE
            guard let route = Route(default: body) else { return nil }
            self = type == 24 ? .defaultRoute(route) : .defaultRouteRemoved(route)
        default:
            return nil
        }
    }
}

extension RouteMessage.Link {
    /// Reads `struct ifinfomsg` and its attributes.
    fileprivate init?(_ body: UnsafeRawBufferPointer) {
        guard body.count >= 16 else { return nil }
        let flags = body.load32(at: 8)
        index = Int32(bitPattern: body.load32(at: 4))
        hardware = body.load16(at: 2)
        // IFLA_IFNAME, with a zero at its end.
        name = body.attribute(3, from: 16).map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } ?? ""
        // IFF_UP and IFF_RUNNING, and not IFF_LOOPBACK.
        isUsable = flags & 0x1 != 0 && flags & 0x40 != 0 && flags & 0x8 == 0
    }
}

extension RouteMessage.Address {
    /// Reads `struct ifaddrmsg` and its attributes. Returns `nil` for an address that is valid only on its link, and
    /// for a new address that is not usable yet.
    fileprivate init?(_ body: UnsafeRawBufferPointer, isNew: Bool) {
        guard body.count >= 8 else { return nil }
        // IFA_FLAGS has more flags than the fixed part.
        let flags = body.attribute(8, from: 8).flatMap { $0.count >= 4 ? $0.load32(at: 0) : nil } ?? UInt32(body[2])
        // RT_SCOPE_UNIVERSE and RT_SCOPE_SITE; IFA_F_TENTATIVE.
        guard body[3] == 0 || body[3] == 200, !isNew || flags & 0x40 == 0 else { return nil }
        // IFA_LOCAL, or IFA_ADDRESS.
        guard let bytes = body.attribute(2, from: 8) ?? body.attribute(1, from: 8) else { return nil }
        link = Int32(bitPattern: body.load32(at: 4))
        self.bytes = Array(bytes)
    }
}

extension RouteMessage.Route {
    /// Reads `struct rtmsg` and its attributes. Returns `nil` unless it is a default route of the main table.
    fileprivate init?(default body: UnsafeRawBufferPointer) {
        // RT_TABLE_MAIN, RTN_UNICAST, and a prefix of zero bits.
        guard body.count >= 12, body[1] == 0, body[4] == 254, body[7] == 1 else { return nil }
        family = body[0]
        // RTA_OIF, or RTA_MULTIPATH.
        if let link = body.attribute(4, from: 12), link.count >= 4 {
            links = [Int32(bitPattern: link.load32(at: 0))]
        } else {
            links = body.attribute(9, from: 12).map(Self.links) ?? []
        }
        // RTA_PRIORITY.
        priority = body.attribute(6, from: 12).flatMap { $0.count >= 4 ? $0.load32(at: 0) : nil } ?? 0
    }

    /// The links of a route with several hops. Each hop is a `struct rtnexthop` with its own attributes.
    private static func links(_ hops: UnsafeRawBufferPointer) -> [Int32] {
        var links: [Int32] = []
        var offset = 0
        while offset + 8 <= hops.count {
            let length = Int(hops.load16(at: offset))
            guard length >= 8 else { break }
            links.append(Int32(bitPattern: hops.load32(at: offset + 4)))
            offset += (length + 3) & ~3
        }
        return links
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func load16(at offset: Int) -> UInt16 { loadUnaligned(fromByteOffset: offset, as: UInt16.self) }
    fileprivate func load32(at offset: Int) -> UInt32 { loadUnaligned(fromByteOffset: offset, as: UInt32.self) }

    /// The value of the first attribute of a type (`struct rtattr`) after a fixed part.
    fileprivate func attribute(_ type: UInt16, from offset: Int) -> UnsafeRawBufferPointer? {
        var offset = offset
        while offset + 4 <= count {
            let length = Int(load16(at: offset))
            guard length >= 4, offset + length <= count else { return nil }
            // The two highest bits are flags.
            if load16(at: offset + 2) & 0x3FFF == type {
                return UnsafeRawBufferPointer(rebasing: self[(offset + 4)..<(offset + length)])
            }
            offset += (length + 3) & ~3
        }
        return nil
    }
}
