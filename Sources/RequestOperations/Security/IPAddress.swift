/// Addresses with the same first bits.
struct AddressRange: Sendable, Hashable {
    private let first: IPAddress
    private let length: Int

    /// Reads `10.0.0.0/8`, or one address.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = IPAddress(String(parts[0])) else { return nil }
        let bits = first.bytes.count * 8
        guard parts.count == 2 else {
            (self.first, length) = (first, bits)
            return
        }
        guard parts[1].allSatisfy(\.isASCII), let length = Int(parts[1]), (0...bits).contains(length) else {
            return nil
        }
        (self.first, self.length) = (first, length)
    }

    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        let (whole, rest) = length.quotientAndRemainder(dividingBy: 8)
        guard address.bytes[..<whole] == first.bytes[..<whole] else { return false }
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return address.bytes[whole] & mask == first.bytes[whole] & mask
    }
}

/// An IPv4 or IPv6 address.
struct IPAddress: Sendable, Hashable {
    /// 4 or 16 bytes, in the order of the network.
    let bytes: [UInt8]

    /// Makes an address. `nil` unless there are 4 or 16 bytes.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = Array(bytes)
    }

    /// Reads an address in its usual form: four decimal numbers, or groups of hexadecimal digits.
    init?(_ text: String) {
        var four = in_addr()
        var six = in6_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: four) { Array($0) }
        } else if inet_pton(AF_INET6, text, &six) == 1 {
            bytes = withUnsafeBytes(of: six) { Array($0) }
        } else {
            return nil
        }
    }

    /// Whether the Internet routes to the address, and to one host.
    var isPublic: Bool {
        if let inner = embedded { return inner.isPublic }
        return bytes.count == 4
            ? !Self.special4.contains { $0.contains(self) }
            : Self.global6.contains(self) && !Self.special6.contains { $0.contains(self) }
    }

    /// The IPv4 address that an IPv6 address stands for (RFC 4291, section 2.5.5.2; RFC 6052; RFC 3056).
    private var embedded: IPAddress? {
        guard bytes.count == 16 else { return nil }
        if Self.mapped.contains(self) || Self.translated.contains(self) { return IPAddress(bytes[12...]) }
        return Self.sixToFour.contains(self) ? IPAddress(bytes[2..<6]) : nil
    }

    private static func ranges(_ texts: String...) -> [AddressRange] { texts.compactMap { AddressRange($0) } }

    private static let mapped = AddressRange("::ffff:0:0/96")!
    private static let translated = AddressRange("64:ff9b::/96")!
    private static let sixToFour = AddressRange("2002::/16")!

    /// IANA IPv4 Special-Purpose Address Registry, multicast, and the broadcast address.
    private static let special4 = ranges(
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4")

    /// All that is given out for single hosts (IANA IPv6 Global Unicast Address Assignments).
    private static let global6 = AddressRange("2000::/3")!

    /// Parts of that which are special (IANA IPv6 Special-Purpose Address Registry).
    private static let special6 = ranges("2001::/23", "2001:db8::/32", "3fff::/20")
}

extension IPAddress: CustomStringConvertible {
    /// The usual form: four decimal numbers, or groups of hexadecimal digits as RFC 5952 says.
    var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
