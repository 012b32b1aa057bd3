/// What a simulation counts, in tenths of a second from its beginning.
struct StormTraffic {
    private static let binsPerSecond = 10

    /// The requests that arrived at the server.
    private var received: [Int]
    /// The requests that processes were asked to make.
    private var made: [Int]
    /// The requests, made before the server recovered, that failed for good.
    private(set) var failed = 0
    /// The requests, made before the server recovered, that succeeded in the end.
    private(set) var succeeded = 0

    /// Begins to count.
    ///
    /// - Parameter seconds: How long the simulation takes.
    init(seconds: Double) {
        let count = Int((seconds * Double(Self.binsPerSecond)).rounded(.up)) + 1
        received = [Int](repeating: 0, count: count)
        made = received
    }

    /// A request arrived at the server.
    mutating func countReceived(at time: Int64) {
        received[Self.bin(Double(time) / 1e9)] += 1
    }

    /// A process was asked to make a request.
    mutating func countMade(at time: Int64) {
        made[Self.bin(Double(time) / 1e9)] += 1
    }

    /// A request that was made before the server recovered has its result.
    mutating func countEnded(successfully: Bool) {
        if successfully { succeeded += 1 } else { failed += 1 }
    }

    /// How many requests were made before a time.
    func made(before second: Double) -> Int {
        made[..<Self.bin(second)].reduce(0, +)
    }

    /// The requests that arrived for each one that was made in a time.
    func amplification(from start: Double, to end: Double) -> Double {
        let bins = Self.bin(start)..<Self.bin(end)
        return Double(received[bins].reduce(0, +)) / Double(made[bins].reduce(0, +))
    }

    /// The most requests that arrived in any second which begins in a time, on a tenth, and ends in it.
    func peak(from start: Double, to end: Double) -> Double {
        let firsts = Self.bin(start)...(Self.bin(end) - Self.binsPerSecond)
        return Double(firsts.map { received[$0..<$0 + Self.binsPerSecond].reduce(0, +) }.max() ?? 0)
    }

    /// The requests that arrived in each second of a time.
    func perSecond(from start: Double, to end: Double) -> [Double] {
        stride(from: start, to: end, by: 1).map { peak(from: $0, to: $0 + 1) }
    }

    private static func bin(_ second: Double) -> Int {
        // Seconds are given on tenths; a time of the simulation counts for the tenth that it lies in.
        Int((second * Double(binsPerSecond)).rounded(.down))
    }
}
