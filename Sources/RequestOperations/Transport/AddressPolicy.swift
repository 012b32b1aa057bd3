/// Which addresses a transport may connect to.
///
/// A server that fetches URLs from strangers must not let them reach what only the server can reach: itself, its network, the
/// metadata service of its cloud. That attack is server-side request forgery (SSRF). A check of the URL is not enough, because
/// a name may resolve to any address, and a redirect may lead to one. So the policy judges each address just before the
/// connection to it.
///
/// ```swift
/// var configuration = CurlTransport.Configuration()
/// configuration.addresses = .publicOnly
/// ```
public struct AddressPolicy: Sendable, Hashable {
    /// Addresses that are allowed although ``publicOnly`` blocks them; `nil` if it is not in force.
    private var exceptions: [AddressRange]?

    /// Allows all addresses.
    public static let any = AddressPolicy(exceptions: nil)

    /// Allows only addresses that the Internet routes to one host.
    ///
    /// It blocks the addresses that the IANA registries of special-purpose addresses (RFC 6890) do not call globally reachable:
    /// loopback, private, link-local with the metadata services of clouds, shared, documentation, benchmarking, multicast and
    /// reserved ones. An IPv6 address that stands for an IPv4 address (`::ffff:0:0/96`, `64:ff9b::/96`, `2002::/16`) is judged
    /// by the IPv4 address.
    public static let publicOnly = AddressPolicy(exceptions: [])

    /// The policy with exceptions.
    ///
    /// - Parameter ranges: Addresses or ranges, such as `10.1.2.3` or `10.1.0.0/16` or `fd00::/8`.
    /// - Throws: ``RequestError/Code/badURL`` for a text that is neither.
    public func allowing(_ ranges: String...) throws -> AddressPolicy {
        var policy = self
        for text in ranges {
            guard let range = AddressRange(text) else {
                throw RequestError(
                    .badURL, stage: .process, reason: "\(text) is neither an address nor a range of addresses")
            }
            policy.exceptions?.append(range)
        }
        return policy
    }

    /// Whether a transport may connect to an address.
    func allows(_ address: IPAddress) -> Bool {
        guard let exceptions else { return true }
        return address.isPublic || exceptions.contains { $0.contains(address) }
    }

    /// Whether no address needs to be looked at.
    var allowsAll: Bool { exceptions == nil }
}

extension RequestError.Code {
    /// The transport may not connect to the address of the host; see ``AddressPolicy``. It is never retried.
    public static let addressNotAllowed = Self("addressNotAllowed")
}
