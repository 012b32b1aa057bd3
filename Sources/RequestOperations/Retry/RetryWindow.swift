/// The budget of one origin as a sliding window: in any ten slices in a row there are no more retries than a reserve and a
/// share of the requests that began in them. What was never used may be drawn at once; the room of retries that the window has
/// forgotten comes back a slice's part at a time, so that one burst is not followed by the next a window later. A pure value;
/// times are nanoseconds since some beginning.
struct RetryWindow: Sendable {
    /// What a window allows.
    struct Terms: Sendable {
        /// The retries for each request.
        let ratio: Double
        /// The retries in a window beside those.
        let reserve: Double
        /// The length of a slice in nanoseconds.
        let slice: Int64

        init(ratio: Double, reserve: Double, window: Int64) {
            self.ratio = ratio
            self.reserve = reserve
            slice = max(window / Int64(RetryWindow.sliceCount), 1)
        }

        /// What a slice contributes to the room of its windows: a tenth of the reserve and its requests' share. It counts as
        /// one retry at least, or a small reserve would take longer than a window to come back.
        fileprivate func part(of requests: Int) -> Double {
            max(reserve / Double(RetryWindow.sliceCount) + ratio * Double(requests), 1)
        }
    }

    enum Outcome: Equatable {
        case granted
        /// Room is kept at a later time.
        case postponed(until: Int64)
        case refused
    }

    static let sliceCount = 10

    private let terms: Terms
    /// The number of the slice that runs.
    private var current: Int64 = 0
    /// The requests of the last slices, each at its number modulo ten.
    private var requests = [Int](repeating: 0, count: sliceCount)
    /// The retries of the slices from the oldest of the window on, and beyond the current one those that were postponed: as
    /// far as a server asks for, so only slices that have any are kept.
    private var retries: [Int64: Int] = [:]
    /// The room that forgotten retries left and that is not given out yet. It never is more than there was room at the
    /// beginning of the slice, so the current requests' share is always there.
    private var heldBack = 0.0
    /// The last slice for which retries were counted.
    private var lastCounted: Int64 = 0
    /// Slices beyond the window that was the current one when they were looked at. None of them has room, nor will have any
    /// before it is part of the current window.
    private var full: Range<Int64> = 0..<0

    init(_ terms: Terms) {
        self.terms = terms
    }

    mutating func countRequest(at now: Int64) {
        advance(to: now)
        requests[Int(current % Int64(Self.sliceCount))] += 1
    }

    /// Counts a retry, where there is room for it.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - earliest: Before this time, which lies before the limit, the retry does not begin, so it needs no room there.
    ///   - limit: Postpones the retry if need be, to a time before this one. `nil` does not, and then there has to be room now.
    mutating func withdraw(at now: Int64, from earliest: Int64 = 0, postponingUntil limit: Int64?) -> Outcome {
        advance(to: now)
        let first = limit == nil ? current : max(earliest / terms.slice, current)
        if first == current, hasRoom(at: current) {
            count(at: current)
            return .granted
        }
        guard let limit else { return .refused }
        let end = current + Int64(Self.sliceCount)
        for slice in max(first, current + 1)..<max(first, end) {
            if let moment = postpone(to: slice, from: earliest, before: limit) { return .postponed(until: moment) }
        }
        // From here on nothing but the reserve counts: who asks for requests that there will be is not believed.
        guard terms.reserve >= 1 else { return .refused }
        var slice = max(first, end)
        if !(full.lowerBound...full.upperBound).contains(slice) { full = slice..<slice }
        slice = full.upperBound
        while start(of: slice) < limit {
            full = full.lowerBound..<slice
            if let moment = postpone(to: slice, from: earliest, before: limit) { return .postponed(until: moment) }
            slice += 1
        }
        return .refused
    }

    /// Takes back the room that a retry was given at a time.
    mutating func takeBack(_ moment: Int64, at now: Int64) {
        advance(to: now)
        let slice = moment / terms.slice
        guard slice >= oldest, let count = retries[slice] else { return }
        retries[slice] = count > 1 ? count - 1 : nil
        if full.contains(slice) { full = full.lowerBound..<slice }
    }

    /// Counts a retry that is to be made now rather than when it was going to be, unless the window still has it.
    ///
    /// - Parameters:
    ///   - moment: Where the retry was counted.
    ///   - now: The time.
    ///   - limit: When it is made at the latest.
    /// - Returns: Where it is counted now, which is when it may be made; `nil` if there is no room before the limit, and
    ///   nothing was changed.
    mutating func bringForward(_ moment: Int64, at now: Int64, before limit: Int64) -> Int64? {
        advance(to: now)
        let slice = moment / terms.slice
        if (oldest...current).contains(slice) { return moment }
        takeBack(moment, at: now)
        switch withdraw(at: now, postponingUntil: limit) {
        case .granted: return now
        case .postponed(let later): return later
        case .refused:
            if slice > current { count(at: slice) }
            return nil
        }
    }

    /// How many slices are kept.
    var keptCount: Int { retries.count }

    /// How many retries there is room for at once.
    mutating func balance(at now: Int64) -> Int {
        advance(to: now)
        let least = windows(for: current).reduce(Double.infinity) { min($0, room(endingAt: $1)) }
        return max(Self.whole(least + Self.tolerance), 0)
    }

    /// Whether this has nothing to say any more: all that it counted is forgotten, and what retries left is given out.
    func isIdle(at now: Int64) -> Bool {
        let windows: Int64 = retries.isEmpty && heldBack == 0 ? 1 : 2
        return now / terms.slice >= last + windows * Int64(Self.sliceCount)
    }

    // MARK: Slices

    private mutating func advance(to now: Int64) {
        // The time was read before the lock was taken, so it may lie a little back.
        let next = now / terms.slice
        guard next > current else { return }
        let count = Int64(Self.sliceCount)
        guard heldBack > 0 || !retries.isEmpty else {
            for slice in max(current + 1, next - count + 1)...next { requests[Int(slice % count)] = 0 }
            current = next
            return
        }
        // After two windows nothing is left of what was: the first forgets it, the second gives out its room.
        if next - current > 2 * count { skip(to: next - 2 * count) }
        while current < next { step() }
    }

    /// Goes to the next slice: the oldest one leaves the window, and the room of its retries comes back as far as it is that
    /// slice's part.
    private mutating func step() {
        let left = retries.removeValue(forKey: oldest) ?? 0
        let part = terms.part(of: requests[number: oldest])
        current += 1
        requests[Int(current % Int64(Self.sliceCount))] = 0
        heldBack += Double(left) - part
        guard heldBack > 0 else {
            heldBack = 0
            return
        }
        heldBack = max(min(heldBack, allowance(endingAt: current) - counted(endingAt: current)), 0)
    }

    /// Goes to a slice so far ahead that nothing of now matters there, but for what was postponed to its window or beyond.
    private mutating func skip(to slice: Int64) {
        current = slice
        requests = [Int](repeating: 0, count: Self.sliceCount)
        retries = retries.filter { $0.key >= oldest }
        heldBack = 0
    }

    private var oldest: Int64 { current - Int64(Self.sliceCount) + 1 }

    /// The last slice for which retries may have been counted.
    private var last: Int64 { max(current, lastCounted) }

    private func start(of slice: Int64) -> Int64 {
        let (start, overflow) = slice.multipliedReportingOverflow(by: terms.slice)
        return overflow ? .max : start
    }

    private mutating func count(at slice: Int64) {
        retries[slice, default: 0] += 1
        lastCounted = max(lastCounted, slice)
    }

    /// Counts a retry in a slice to come, if there is room. Of these no slice gets more than its part of the window, and
    /// they are spread over it, so that those who wait for room do not come all at once. (Those whose earliest time lies in it
    /// are few, and keep to that.)
    private mutating func postpone(to slice: Int64, from earliest: Int64, before limit: Int64) -> Int64? {
        let counted = retries[slice] ?? 0
        let part = max(Self.whole(allowance(endingAt: slice)) / Self.sliceCount, 1)
        guard counted < part, hasRoom(at: slice) else { return nil }
        let isFirst = earliest >= start(of: slice)
        let share = (Double(counted) + 0.5) / Double(part)
        // The last slice of very long ones ends beyond what a number of nanoseconds holds.
        let (within, overflow) = start(of: slice).addingReportingOverflow(Int64(Double(terms.slice) * share))
        let moment = isFirst ? earliest : overflow ? .max : within
        guard moment < limit else { return nil }
        count(at: slice)
        return moment
    }

    // MARK: Windows

    /// A number of retries as a whole one, which an `Int` holds.
    private static func whole(_ number: Double) -> Int { Int(min(number, 1e18)) }

    /// A share of a request is not exact.
    private static let tolerance = 1e-9

    private func hasRoom(at slice: Int64) -> Bool {
        windows(for: slice).allSatisfy { room(endingAt: $0) + Self.tolerance >= 1 }
    }

    /// The windows that have to have room for a retry in a slice, by their ends: all that the slice is part of, up to the
    /// last one with retries that were postponed. They were promised their room.
    private func windows(for slice: Int64) -> ClosedRange<Int64> {
        slice...max(slice, min(slice + Int64(Self.sliceCount) - 1, last))
    }

    /// The room in the window that ends with a slice, without what is held back in that of now.
    private func room(endingAt slice: Int64) -> Double {
        let room = allowance(endingAt: slice) - counted(endingAt: slice)
        return slice == current ? room - heldBack : room
    }

    /// How many retries are allowed in the window that ends with a slice, by the requests that are known.
    private func allowance(endingAt slice: Int64) -> Double {
        let first = max(slice - Int64(Self.sliceCount) + 1, oldest)
        guard first <= current else { return terms.reserve }
        let known = (first...min(slice, current)).reduce(0) { $0 + requests[number: $1] }
        return terms.reserve + terms.ratio * Double(known)
    }

    private func counted(endingAt slice: Int64) -> Double {
        let first = max(slice - Int64(Self.sliceCount) + 1, oldest)
        guard !retries.isEmpty, first <= slice else { return 0 }
        return Double((first...slice).reduce(0) { $0 + (retries[$1] ?? 0) })
    }
}

extension [Int] {
    /// The element of a slice, of which there were none before the first.
    fileprivate subscript(number slice: Int64) -> Int {
        slice < 0 ? 0 : self[Int(slice % Int64(RetryWindow.sliceCount))]
    }
}
