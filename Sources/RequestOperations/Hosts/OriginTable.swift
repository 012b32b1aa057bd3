/// What is kept for each origin.
///
/// Idle entries go away in two cases. One is that another entry needs their room. The other is time: the table looks at all
/// of its entries when it is used again an hour after it last did.
struct OriginTable<Entry> {
    private var entries: [Origin: Entry] = [:]
    /// With so many entries the idle ones are dropped before another one is made.
    private var roomFor = 64
    /// When the idle ones were looked for last.
    private var lastSweep = Int64.min

    var count: Int { entries.count }

    subscript(origin: Origin) -> Entry? { entries[origin] }

    /// Changes the entry of an origin, if there is one.
    mutating func change<Result>(_ origin: Origin, _ change: (inout Entry) -> Result) -> Result? {
        guard let index = entries.index(forKey: origin) else { return nil }
        return change(&entries.values[index])
    }

    /// Changes the entry of an origin.
    ///
    /// - Parameters:
    ///   - origin: The origin.
    ///   - now: The time, in nanoseconds since some beginning.
    ///   - initial: The entry to make, if there is none.
    ///   - isIdle: Whether an entry says no more than one that is newly made, so that it may be dropped.
    ///   - change: The change.
    mutating func change<Result>(
        _ origin: Origin, at now: Int64, initially initial: @autoclosure () -> Entry, isIdle: (Entry) -> Bool,
        by change: (inout Entry) -> Result
    ) -> Result {
        sweep(at: now, isIdle: isIdle)
        if entries.count >= roomFor, entries[origin] == nil { drop(isIdle) }
        return change(&entries[origin, default: initial()])
    }

    /// Drops the idle entries, unless that was done in the last hour. Each use of the table is to call it, or a change that does.
    mutating func sweep(at now: Int64, isIdle: (Entry) -> Bool) {
        guard now - HostMemory.sweepInterval >= lastSweep else { return }
        lastSweep = now
        if !entries.isEmpty { drop(isIdle) }
    }

    /// Drops entries. The room then is twice what is left, so that each entry is looked at a bounded number of times.
    private mutating func drop(_ isIdle: (Entry) -> Bool) {
        entries = entries.filter { !isIdle($0.value) }
        roomFor = max(64, 2 * entries.count)
    }
}
