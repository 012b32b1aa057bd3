#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Reports the state of the network each time the kernel says that something has changed (rtnetlink). It has no
    /// thread of its own: Dispatch watches its socket.
    ///
    /// The content of a message does not matter. The kernel reports neither everything that follows from a change, nor
    /// what did not fit into the socket. So the whole state is read again, once for all messages of a tenth of a
    /// second.
    final class RouteMonitor: PathMonitor {
        let initial: NetworkPath.Reading

        private let channel: FileHandle
        private let read: @Sendable () -> NetworkPath.Reading?
        private let queue = DispatchQueue(label: "RequestOperations.NetworkPath")
        // Set by `init`, and afterwards used only on the queue.
        /// How many readings in a row have failed. After a failure the last report stays valid until one succeeds.
        private nonisolated(unsafe) var failures: Int
        private nonisolated(unsafe) var isReadingScheduled = false
        /// `nil` when nothing is reported: before the start and after the end.
        private nonisolated(unsafe) var source: (any DispatchSourceRead)?

        /// Opens the socket and reads the current state. Returns `nil` if the system does not allow the socket.
        ///
        /// The socket belongs to the network namespace of the thread that calls, and a reading to that of the thread that
        /// reads.
        convenience init?() {
            guard let channel = Self.openChannel() else { return nil }
            self.init(channel: channel) { LinkTable.read()?.reading(description: LinkTable.description) }
        }

        /// Makes a monitor.
        ///
        /// - Parameters:
        ///   - channel: Something can be received from it when something has changed.
        ///   - read: Reads the state; `nil` if that fails.
        init(channel: FileHandle, read: @escaping @Sendable () -> NetworkPath.Reading?) {
            let first = read()
            (self.channel, self.read) = (channel, read)
            (initial, failures) = (first ?? .unknown, first == nil ? 1 : 0)
        }

        /// Opens a socket that receives changes of links, addresses and routes. Returns `nil` if the system forbids it.
        static func openChannel() -> FileHandle? {
            // AF_NETLINK, SOCK_RAW and SOCK_CLOEXEC, NETLINK_ROUTE.
            let descriptor = socket(16, 3 | 0o2_000_000, 0)
            guard descriptor >= 0 else { return nil }
            let channel = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            // struct sockaddr_nl: family, padding, port (the kernel chooses it) and the groups RTMGRP_LINK,
            // RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
            let address: (UInt16, UInt16, UInt32, UInt32) = (16, 0, 0, 0x1 | 0x10 | 0x40 | 0x100 | 0x400)
            let isBound = withUnsafeBytes(of: address) { bytes in
                // The address has twelve bytes, so it has a base address.
                bind(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            }
            return isBound ? channel : nil
        }

        func start(_ report: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            queue.async { [self] in
                let source = DispatchSource.makeReadSource(fileDescriptor: channel.fileDescriptor, queue: queue)
                source.setEventHandler { [weak self] in self?.receive(report) }
                // The handler holds the channel until the source has been cancelled.
                source.setCancelHandler { [channel] in withExtendedLifetime(channel) {} }
                source.activate()
                self.source = source
                if failures > 0 { readLater(report) }
            }
        }

        func stop() {
            queue.async { self.end() }
        }

        private func end() {
            source?.cancel()
            source = nil
        }

        /// Takes the pending messages, and schedules a reading of the state after them. The source fires again if some
        /// are left.
        private func receive(_ report: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            guard source != nil else { return }
            loop: for _ in 0..<1_000 {
                // The rest of a message is dropped. 0x40 is MSG_DONTWAIT.
                var byte: UInt8 = 0
                let count = recv(channel.fileDescriptor, &byte, 1, 0x40)
                guard count <= 0 else { continue }
                switch errno {
                case _ where count == 0: return fail(report)
                case EAGAIN: break loop
                case EINTR, ENOBUFS: continue
                default: return fail(report)
                }
            }
            readLater(report)
        }

        /// Ends the reports. The machine counts as reachable from then on.
        private func fail(_ report: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            end()
            report(.unknown)
        }

        /// Schedules a reading, unless one is scheduled. That one comes after all messages that have been taken.
        private func readLater(_ report: @escaping @Sendable (NetworkPath.Reading) -> Void) {
            guard !isReadingScheduled else { return }
            isReadingScheduled = true
            // The delay is a tenth of a second. With each failure it grows, to about ten seconds.
            queue.asyncAfter(deadline: .now() + .milliseconds(100 << min(failures, 7))) { [weak self] in
                guard let self, source != nil else { return }
                isReadingScheduled = false
                guard let reading = read() else {
                    failures += 1
                    return readLater(report)
                }
                failures = 0
                report(reading)
            }
        }
    }

    extension LinkTable {
        /// Reads the table of the network namespace of this thread. Returns `nil` if the system does not show it.
        static func read() -> LinkTable? {
            // The links are read first: the kernel answers when it has done all that follows from the last change.
            var first: UnsafeMutablePointer<ifaddrs>?
            guard getifaddrs(&first) == 0 else { return nil }
            defer { freeifaddrs(first) }
            var table = LinkTable()
            var next = first
            while let entry = next?.pointee {
                table.add(entry)
                next = entry.ifa_next
            }
            let folder = "/proc/thread-self/net/"
            guard let routes = content(of: folder + "route") else { return nil }
            table.addRoutes(ipv4: routes)
            // A kernel without IPv6 has no files for it.
            guard access(folder + "ipv6_route", F_OK) == 0 else { return table }
            guard let routes = content(of: folder + "ipv6_route"), let addresses = content(of: folder + "if_inet6")
            else {
                return nil
            }
            table.addRoutes(ipv6: routes)
            table.addAddresses(ipv6: addresses)
            return table
        }

        /// What the driver says about a link.
        static func description(of link: String) -> String { content(of: "/sys/class/net/\(link)/uevent") ?? "" }

        private static func content(of path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }

        /// Adds a link or its IPv4 address.
        private mutating func add(_ entry: ifaddrs) {
            let name = String(cString: entry.ifa_name)
            // A link without a hardware address has no address here.
            guard let address = entry.ifa_addr else {
                return links.append(Link(name: name, flags: entry.ifa_flags))
            }
            let bytes = UnsafeRawPointer(address)
            switch Int32(address.pointee.sa_family) {
            case 17:  // AF_PACKET, whose `struct sockaddr_ll` has the ARPHRD_… number.
                let hardware = bytes.load(fromByteOffset: 8, as: UInt16.self)
                links.append(Link(name: name, flags: entry.ifa_flags, hardware: hardware))
            case AF_INET:
                // A label may follow the name of the link.
                let link = String(name.prefix { $0 != ":" })
                // 169.254.0.0/16
                let isOfLink = bytes.load(fromByteOffset: 4, as: UInt16.self) == UInt16(bigEndian: 0xA9FE)
                if isOfLink { linkAddressed.insert(link) } else { addressed.insert(link) }
            default: break
            }
        }
    }
#endif

/// The links of a Linux machine, their addresses and default routes. A pure value.
struct LinkTable {
    struct Link {
        let name: String
        /// The kernel's IFF_… flags.
        let flags: UInt32
        /// The kind of hardware (ARPHRD_…). The default stands for none.
        var hardware: UInt16 = 0xFFFE

        var isUp: Bool { flags & 0x1 != 0 }
        /// Whether it is up, has a carrier (IFF_RUNNING) and leads out of the machine (it is no IFF_LOOPBACK).
        var isUsable: Bool { flags & (0x1 | 0x40 | 0x8) == 0x1 | 0x40 }
    }

    /// The links, in the kernel's order.
    var links: [Link] = []
    /// The names of links with an address that is valid beyond them.
    var addressed: Set<String> = []
    /// The names of links with an IPv4 address that is valid only on its link (169.254.0.0/16).
    var linkAddressed: Set<String> = []
    /// The names of links with a default route.
    var routed: Set<String> = []

    /// Adds the default routes of the main table, from the content of `/proc/net/route`.
    ///
    /// The columns are: link, destination, gateway, flags, three counters, mask. A route that leads nowhere has no link
    /// or the flag RTF_REJECT. Of a route by several links, the kernel names only the first hop.
    mutating func addRoutes(ipv4 content: String) {
        for words in Self.lines(of: content, second: "00000000") where words.count >= 8 && words[7] == "00000000" {
            if words[0] != "*", let flags = UInt32(words[3], radix: 16), flags & 0x200 == 0 {
                routed.insert(String(words[0]))
            }
        }
    }

    /// Adds the default routes from the content of `/proc/net/ipv6_route`. That file lists the routes of all tables, and
    /// has no column for the table.
    ///
    /// The columns are: destination and the length of its prefix, source and the length of its prefix, gateway, three
    /// counters, flags, link.
    mutating func addRoutes(ipv6 content: String) {
        for words in Self.lines(of: content, second: "00") where words.count >= 10 {
            if let flags = UInt32(words[8], radix: 16), flags & 0x200 == 0 { routed.insert(String(words[9])) }
        }
    }

    /// Adds the addresses from the content of `/proc/net/if_inet6`, except those that are valid only on their link, or are
    /// not usable yet.
    ///
    /// The columns are: address, number of the link, length of the prefix, scope, flags, link.
    mutating func addAddresses(ipv6 content: String) {
        for words in Self.lines(of: content) where words.count >= 6 && (words[3] == "00" || words[3] == "40") {
            // IFA_F_TENTATIVE
            if let flags = UInt32(words[4], radix: 16), flags & 0x40 == 0 { addressed.insert(String(words[5])) }
        }
    }

    /// The words of each line that has this second word, or of all lines.
    ///
    /// A router has thousands of routes. So a line is split only when its turn comes and its second word is right.
    private static func lines(of content: String, second: String? = nil) -> some Sequence<[Substring]> {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        return sequence(state: content.utf8[...]) { rest in
            while !rest.isEmpty {
                let line = rest.prefix { $0 != UInt8(ascii: "\n") }
                rest = rest[line.endIndex...].dropFirst()
                let word = line.drop { !isBlank($0) }.drop(while: isBlank).prefix { !isBlank($0) }
                if second.map({ word.elementsEqual($0.utf8) }) ?? true {
                    return line.split(whereSeparator: isBlank).map { Substring($0) }
                }
            }
            return nil
        }
    }

    /// The state of the path: among the usable links, one with a default route comes first, and then the oldest.
    ///
    /// - Parameter description: Returns what the driver says about a link with a name: the content of its `uevent` file.
    func reading(description: (String) -> String) -> NetworkPath.Reading {
        // Some sandboxes translate an address of the link to one that is valid beyond it. Then there is a default route.
        let addressed = addressed.union(linkAddressed.intersection(routed))
        let usable = links.filter { $0.isUsable && addressed.contains($0.name) }
        // The kernel removes the routes of a link that is switched off. If one is there, it has further links that are up,
        // and the kernel names the first link only.
        let hasUnnamedLinks = links.contains { !$0.isUp && routed.contains($0.name) }
        let best = usable.first { routed.contains($0.name) } ?? (hasUnnamedLinks ? usable.first : nil)
        guard let link = best ?? usable.first else { return NetworkPath.Reading(level: .none, interface: .other) }
        return NetworkPath.Reading(
            level: best == nil ? .local : .routed,
            interface: Reachability.Interface(hardware: link.hardware, description: description(link.name)))
    }
}

extension Reachability.Interface {
    /// The kind of a Linux link.
    ///
    /// - Parameters:
    ///   - hardware: Its ARPHRD_… number.
    ///   - description: The content of its `uevent` file.
    init(hardware: UInt16, description: String) {
        let lines = description.split(whereSeparator: \.isNewline)
        self =
            if lines.contains("DEVTYPE=wlan") {
                .wifi
            } else if lines.contains("DEVTYPE=wwan") {
                .cellular
            } else {
                // ARPHRD_ETHER
                hardware == 1 ? .wired : .other
            }
    }
}
