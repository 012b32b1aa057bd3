/// Pins for some hosts: one of them must be in the chain that was verified for the server.
///
/// ```swift
/// trust.pins = [
///     .host("api.example.com", keys: ["sha256/YhKJKSzoTt2b5FP18fvpHo7fJYqQCjAa3HWY3tvRMwE=", backup])
/// ]
/// ```
///
/// The certificate is verified first, as without pins. Then any certificate of the chain that led to a root may match: the
/// server's, an intermediate one, or the root. Certificates that the server only sent along do not count. If several patterns
/// fit a host, the pins that are enforced count together, and each that only reports is judged for itself.
public struct HostPins: Sendable, Hashable {
    /// What happens when no pin matches.
    public enum Mode: Sendable, Hashable {
        /// The connection fails as ``RequestError/Code/pinningFailed``. Nothing is sent, and the request is never retried.
        case enforce
        /// The connection is used, and the handler is told.
        case reportOnly(PinReport.Handler)

        /// The connection is used, and a closure is told. The closure runs on a queue of its own, once for each full handshake.
        public static func reportOnly(_ report: @escaping @Sendable (PinReport) -> Void) -> Mode {
            .reportOnly(PinReport.Handler(report))
        }
    }

    /// The pattern of the hosts: `api.example.com`, `*.example.com` for one label more, `**.example.com` for `example.com` and
    /// any number of labels more, `**` for every host, or an address. A port may follow.
    public let host: String

    /// The pins. Name at least one more than is in use: a backup, whose key is kept elsewhere. A warning on standard error says
    /// once for each host that there is none.
    public let pins: [ServerPin]

    /// From then on the pins do not count, so that a program that is not updated goes on working. `nil` means never.
    public let expires: Date?

    /// What happens when no pin matches.
    public let mode: Mode

    let pattern: HostPattern

    /// Makes pins for hosts.
    ///
    /// A pattern that is none is a programmer's error. Call ``isPattern(_:)`` to check a text that comes from outside.
    ///
    /// - Parameters:
    ///   - host: The pattern of the hosts.
    ///   - keys: The pins. Without any, no server is trusted.
    ///   - expires: From then on the pins do not count. `nil`, never, by default.
    ///   - mode: What happens when no pin matches. ``Mode/enforce`` by default.
    public static func host(
        _ host: String, keys: [ServerPin], expires: Date? = nil, _ mode: Mode = .enforce
    ) -> HostPins {
        guard let pattern = HostPattern(host) else { preconditionFailure("\(host) is no pattern of hosts.") }
        return HostPins(host: host, pins: keys, expires: expires, mode: mode, pattern: pattern)
    }

    /// Whether a text is a pattern of hosts.
    public static func isPattern(_ text: String) -> Bool { HostPattern(text) != nil }
}

/// A server whose chain has none of the pins for its host.
public struct PinReport: Sendable, Hashable {
    /// The host.
    public let host: String
    /// The pins of the keys in the verified chain, that of the server first. One of them, and a backup, is what to pin.
    public let presented: [ServerPin]
    /// The pins that were expected.
    public let expected: [ServerPin]

    /// What the error of a refused server says.
    var reason: String {
        "\(host) presented " + presented.map(\.description).joined(separator: ", ") + "; the pins are "
            + expected.map(\.description).joined(separator: ", ")
    }

    /// A closure that is told. Two handlers are equal only if they are one.
    public final class Handler: Sendable, Hashable {
        private let report: @Sendable (PinReport) -> Void

        init(_ report: @escaping @Sendable (PinReport) -> Void) {
            self.report = report
        }

        func callAsFunction(_ report: PinReport) {
            DispatchQueue.global().async { self.report(report) }
        }

        /// Whether both are the same object.
        public static func == (first: Handler, second: Handler) -> Bool { first === second }

        /// Hashes the identity.
        public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
}
