/// How often something happened in the last second, counted in tenths. A pure value. Times are nanoseconds on one
/// clock.
struct RecentCount {
    private static let slice: Int64 = 100_000_000
    private static let sliceCount: Int64 = 10

    /// The counts of the last ten slices, each at its number modulo ten.
    private var counts = [Int](repeating: 0, count: Int(sliceCount))
    /// The number of the last slice in which something happened.
    private var current: Int64?

    mutating func add(at now: Int64) {
        let slice = max(now, 0) / Self.slice
        if let current, slice > current {
            for passed in max(current + 1, slice - Self.sliceCount + 1)...slice { counts[Self.index(passed)] = 0 }
        }
        current = max(slice, current ?? slice)
        counts[Self.index(slice)] += 1
    }

    func count(at now: Int64) -> Int {
        guard let current else { return 0 }
        let oldest = max(max(now, 0) / Self.slice, current) - Self.sliceCount + 1
        return oldest > current ? 0 : (oldest...current).reduce(0) { $0 + counts[Self.index($1)] }
    }

    private static func index(_ slice: Int64) -> Int {
        Int((slice % sliceCount + sliceCount) % sliceCount)
    }
}
