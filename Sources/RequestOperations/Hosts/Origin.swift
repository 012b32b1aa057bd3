/// Scheme, host and port (RFC 6454). Credentials, connections, limits and the data about hosts are kept by origin.
struct Origin: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    init(_ url: URL?) {
        if let url, let usual = Origin(usual: url.absoluteString) {
            self = usual
            return
        }
        scheme = url?.scheme?.lowercased() ?? ""
        host = url?.host?.lowercased() ?? ""
        port = url?.port ?? Self.defaultPort(isSecure: scheme == "https")
    }

    /// Reads the origin from the text of a usual URL, without the accessors of Foundation's URL. A usual URL has a host of
    /// lower-case letters, digits, dots and hyphens, and no credentials. Returns `nil` for any other.
    private init?(usual text: String) {
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { return nil }
        let rest = text.utf8.dropFirst(isSecure ? 8 : 7)
        let name = rest.prefix(while: \.isInUsualHost)
        guard !name.isEmpty, let host = String(name) else { return nil }
        var port = Self.defaultPort(isSecure: isSecure)
        var end = rest[name.endIndex...]
        if end.first == UInt8(ascii: ":") {
            let digits = end.dropFirst().prefix { $0 != UInt8(ascii: "/") }
            guard (1...5).contains(digits.count), digits.allSatisfy(\.isDigit) else { return nil }
            port = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            end = end[digits.endIndex...]
        }
        guard end.isEmpty || end.first == UInt8(ascii: "/") else { return nil }
        (scheme, self.host, self.port) = (isSecure ? "https" : "http", host, port)
    }

    /// The port of a URL that does not name one (RFC 9110, sections 4.2.1 and 4.2.2).
    static func defaultPort(isSecure: Bool) -> Int { isSecure ? 443 : 80 }
}

/// A table with one entry for each origin.
///
/// Idle entries are dropped in two cases. One is that a new entry needs their room. The other is time: at its first use
/// after an hour, the table checks all of its entries.
struct OriginTable<Entry> {
    private var entries: [Origin: Entry] = [:]
    /// With this many entries, the table drops the idle ones before it makes another.
    private var roomFor = 64
    /// When the table last looked for idle entries.
    private var lastSweep = Int64.min

    var count: Int { entries.count }

    subscript(origin: Origin) -> Entry? { entries[origin] }

    /// Changes the entry of an origin, if there is one.
    mutating func change<Result>(_ origin: Origin, _ change: (inout Entry) -> Result) -> Result? {
        guard let index = entries.index(forKey: origin) else { return nil }
        return change(&entries.values[index])
    }

    /// Changes the entry of an origin. If there is none, it makes one.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - now: The time, in nanoseconds since a fixed start.
    ///   - initial: The entry to make if there is none.
    ///   - isIdle: Whether an entry is equivalent to a new one, so that it may be dropped.
    ///   - change: The change.
    mutating func change<Result>(
        _ origin: Origin, at now: Int64, initially initial: @autoclosure () -> Entry, isIdle: (Entry) -> Bool,
        by change: (inout Entry) -> Result
    ) -> Result {
        sweep(at: now, isIdle: isIdle)
        if entries.count >= roomFor, entries[origin] == nil { drop(isIdle) }
        return change(&entries[origin, default: initial()])
    }

    /// Drops the idle entries, unless that was done in the last hour. Each use of the table must call this, or a change
    /// that calls it.
    mutating func sweep(at now: Int64, isIdle: (Entry) -> Bool) {
        guard now - HostMemory.sweepInterval >= lastSweep else { return }
        lastSweep = now
        if !entries.isEmpty { drop(isIdle) }
    }

    /// Drops idle entries. It then sets the room to twice what is left, so that each entry is checked a bounded number
    /// of times.
    private mutating func drop(_ isIdle: (Entry) -> Bool) {
        entries = entries.filter { !isIdle($0.value) }
        roomFor = max(64, 2 * entries.count)
    }
}

/// How long the tables keep data about a host that is no longer used. Times are in nanoseconds.
enum HostMemory {
    /// Data that is not used for this time is forgotten: half a day. So a host that fails once a day starts afresh each
    /// time.
    static let longestRest: Int64 = 12 * sweepInterval
    /// How often a table in use looks for data to forget: once an hour. So nothing is left after a day.
    static let sweepInterval: Int64 = 3_600_000_000_000
}

extension UInt8 {
    fileprivate var isInUsualHost: Bool {
        (0x61...0x7A).contains(self) || isDigit || self == UInt8(ascii: ".") || self == UInt8(ascii: "-")
    }
}
