/// What is kept for each origin. An entry is found by the text of a URL, without making a string or an object: every request
/// looks one up.
///
/// Idle entries go away in two cases. One is that another entry needs their room. The other is time: the table looks at all
/// of its entries when it is used again an hour after it last did.
struct OriginTable<Entry> {
    private var entries: [Entry] = []
    private var places: [Origin: Int] = [:]
    /// The places once more, by how URLs spell their origins.
    private var spellings: [OriginSpelling: Int] = [:]
    /// The one that was looked up last: most programs send many requests to one host.
    private var latest: (spelling: OriginSpelling, place: Int)?
    /// With so many entries the idle ones are dropped before another one is made.
    private var roomFor = Self.leastRoom
    /// When the idle ones were looked for last.
    private var lastSweep = Int64.min

    private static var leastRoom: Int { 64 }

    var count: Int { entries.count }

    /// The entry of a URL's origin.
    mutating func entry(of url: URL?) -> Entry? {
        place(of: url).map { entries[$0] }
    }

    /// Changes the entry of a URL's origin, if there is one.
    mutating func change<Result>(_ url: URL?, _ change: (inout Entry) -> Result) -> Result? {
        guard let place = place(of: url) else { return nil }
        return change(&entries[place])
    }

    /// Changes the entry of a URL's origin.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - now: The time, in nanoseconds since some beginning.
    ///   - initial: The entry to make, if there is none.
    ///   - isIdle: Whether an entry says no more than one that is newly made: it may be dropped.
    ///   - change: The change.
    mutating func change<Result>(
        _ url: URL?, at now: Int64, initially initial: @autoclosure () -> Entry, isIdle: (Entry) -> Bool,
        by change: (inout Entry) -> Result
    ) -> Result {
        sweep(at: now, isIdle: isIdle)
        let place = place(of: url) ?? add(initial(), for: url, isIdle: isIdle)
        return change(&entries[place])
    }

    /// Drops the idle entries, unless that was done in the last hour. Each use of the table is to call it, or a change that does.
    mutating func sweep(at now: Int64, isIdle: (Entry) -> Bool) {
        guard now - HostMemory.sweepInterval >= lastSweep else { return }
        lastSweep = now
        if !entries.isEmpty { removeAll(where: isIdle) }
    }

    private mutating func place(of url: URL?) -> Int? {
        let text = url?.absoluteString
        if let text, let latest, latest.spelling.begins(text) { return latest.place }
        let spelling = text.flatMap(OriginSpelling.init)
        if let spelling, let index = spellings.index(forKey: spelling) {
            // The key does not keep the rest of the URL.
            latest = (spellings[index].key, spellings[index].value)
            return spellings[index].value
        }
        guard let place = places[Origin(url)] else { return nil }
        if let spelling { remember(spelling, at: place) }
        return place
    }

    private mutating func add(_ entry: Entry, for url: URL?, isIdle: (Entry) -> Bool) -> Int {
        if entries.count >= roomFor { removeAll(where: isIdle) }
        entries.append(entry)
        places[Origin(url)] = entries.count - 1
        if let url, let spelling = OriginSpelling(url.absoluteString) { remember(spelling, at: entries.count - 1) }
        return entries.count - 1
    }

    private mutating func remember(_ spelling: OriginSpelling, at place: Int) {
        // Few origins are spelt in several ways; whoever spells one in ever new ways does not fill the memory.
        if spellings.count > 4 * entries.count + Self.leastRoom { spellings = [:] }
        spellings[spelling.kept] = place
    }

    /// Drops entries; the room then is twice what is left, so that each entry is looked at a bounded number of times.
    private mutating func removeAll(where isIdle: (Entry) -> Bool) {
        var kept: [Entry] = []
        var keptPlaces: [Origin: Int] = [:]
        for (origin, place) in places where !isIdle(entries[place]) {
            keptPlaces[origin] = kept.count
            kept.append(entries[place])
        }
        (entries, places, spellings, latest) = (kept, keptPlaces, [:], nil)
        roomFor = max(Self.leastRoom, 2 * entries.count)
    }
}

/// How long something is kept for a host that nobody uses any more, where time alone does not end it. Times are nanoseconds.
enum HostMemory {
    /// After so long without a use it is forgotten: half a day. A host that fails once a day begins afresh each time.
    static let longestRest: Int64 = 12 * sweepInterval
    /// So often a table that is used looks for what can be forgotten: once an hour. So nothing is left after a day.
    static let sweepInterval: Int64 = 3_600_000_000_000
}

/// How the text of a URL spells its origin: scheme and authority, up to the path. Equal spellings mean the same origin;
/// one origin has many spellings.
struct OriginSpelling: Hashable {
    private let text: String
    /// How much of the text it is, in bytes of UTF-8.
    private let length: Int

    /// The spelling in a URL's text; `nil` if it has a user or is not read at a glance.
    init?(_ text: String) {
        guard let length = text.utf8.withContiguousStorageIfAvailable(Self.length) ?? nil else { return nil }
        self.init(text: text, length: length)
    }

    private init(text: String, length: Int) {
        self.text = text
        self.length = length
    }

    /// The same without the rest of the URL, which may be long and secret.
    var kept: OriginSpelling {
        OriginSpelling(text: String(decoding: text.utf8.prefix(length), as: UTF8.self), length: length)
    }

    /// Whether the text of a URL spells its origin so.
    func begins(_ text: String) -> Bool {
        let answer = text.utf8.withContiguousStorageIfAvailable { text in
            guard text.count >= length else { return false }
            let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<length])
            guard text.count == length || text[length].endsAuthority else { return false }
            return withBytes { $0.hasSameBytes(as: bytes) } ?? false
        }
        return answer ?? false
    }

    private static func length(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        var slashes = 0
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "/"):
                slashes += 1
                if slashes == 3 { return index }
            case UInt8(ascii: "?"), UInt8(ascii: "#"):
                return slashes == 2 ? index : nil
            case UInt8(ascii: "@"), UInt8(ascii: "\\"):
                return nil
            default:
                break
            }
        }
        return slashes == 2 ? text.count : nil
    }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
        text.utf8.withContiguousStorageIfAvailable {
            body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0)[..<length]))
        }
    }

    static func == (first: OriginSpelling, second: OriginSpelling) -> Bool {
        guard first.length == second.length else { return false }
        return first.withBytes { mine in second.withBytes { mine.hasSameBytes(as: $0) } ?? false } ?? false
    }

    func hash(into hasher: inout Hasher) {
        withBytes { hasher.combine(bytes: $0) }
    }
}

extension UInt8 {
    /// Whether this ends the authority of a URL (RFC 3986, section 3.2).
    var endsAuthority: Bool {
        self == UInt8(ascii: "/") || self == UInt8(ascii: "?") || self == UInt8(ascii: "#")
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a buffer that is as long has the same bytes.
    fileprivate func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        guard let mine = baseAddress, let others = other.baseAddress else { return true }
        return memcmp(mine, others, count) == 0
    }
}
