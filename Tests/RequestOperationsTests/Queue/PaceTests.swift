import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct PaceTests {
    private static let second: Int64 = 1_000_000_000

    /// When attempts begin that are always there, up to an end, in milliseconds.
    private static func begins(of pace: inout Pace, from start: Int64 = 0, until end: Int64) -> [Int64] {
        var (now, begins) = (start, [Int64]())
        while now < end {
            now = pace.nextTime(at: now)
            guard now < end else { break }
            pace.take(at: now)
            begins.append(now / 1_000_000)
        }
        return begins
    }

    /// The pace of a host that accepted so many attempts in the second before its first 429, at 0.
    private static func pace(_ rate: RequestLimiter.Rate? = nil, learning count: Int) -> Pace {
        var pace = Pace(rate: rate, adapts: true)
        for _ in 0..<count { pace.heard(200, at: 0) }
        pace.heard(429, at: 0)
        return pace
    }

    /// An attempt is sent and accepted at once.
    private static func send(_ pace: inout Pace, at now: Int64) {
        pace.take(at: now)
        pace.heard(200, at: now)
    }

    @Test func `Attempts follow each other evenly`() {
        var pace = Pace(rate: .perSecond(10), adapts: false)
        #expect(Self.begins(of: &pace, until: Self.second / 2) == [0, 100, 200, 300, 400])
    }

    @Test func `A burst begins at once, and again after a pause`() {
        var pace = Pace(rate: .perSecond(10, burst: 3), adapts: false)
        #expect(Self.begins(of: &pace, until: Self.second / 2) == [0, 0, 0, 100, 200, 300, 400])
        #expect(
            Self.begins(of: &pace, from: 60 * Self.second, until: 60 * Self.second + 1) == [60_000, 60_000, 60_000])
    }

    @Test func `A pause saves nothing up beyond the burst`() {
        var pace = Pace(rate: .perSecond(10), adapts: false)
        #expect(
            Self.begins(of: &pace, from: 9 * Self.second, until: 9 * Self.second + 250_000_000) == [9000, 9100, 9200])
    }

    @Test func `A slow rate is less than one attempt a second`() {
        var pace = Pace(rate: .perSecond(0.1), adapts: false)
        #expect(Self.begins(of: &pace, until: 25 * Self.second) == [0, 10_000, 20_000])
    }

    @Test func `A fast rate is kept on average though timers are late`() {
        var pace = Pace(rate: .perSecond(10_000), adapts: false)
        var count = 0
        for tick in 0..<1000 {
            let now = Int64(tick) * 1_000_000
            while pace.nextTime(at: now) <= now {
                pace.take(at: now)
                count += 1
            }
        }
        #expect((9_900...10_200).contains(count))
    }

    @Test func `What was not sent is not counted`() {
        var pace = Pace(rate: .perSecond(1), adapts: false)
        pace.take(at: 0)
        pace.release(at: 0)
        #expect(pace.nextTime(at: 0) == 0)
    }

    @Test func `Without a rate nothing waits`() {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<1000 { pace.take(at: 0) }
        #expect(pace.nextTime(at: 0) == 0)
    }

    @Test func `After a 429 the rate is what the host accepted in the last second`() {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<7 { pace.heard(200, at: 0) }
        for number in 4...23 { pace.heard(200, at: Self.second * 5 + Int64(number) * 40_000_000) }
        pace.heard(429, at: Self.second * 6)
        // 20 a second, one each 50 ms.
        #expect(pace.nextTime(at: Self.second * 6) == Self.second * 6 + 50_000_000)
    }

    // MARK: Series

    @Test func `Responses that come beside the first 429 count too`() {
        var pace = Pace(rate: nil, adapts: true)
        pace.heard(429, at: 0)
        for _ in 0..<10 { pace.heard(200, at: 1_000_000) }
        pace.heard(429, at: 2_000_000)
        #expect(pace.nextTime(at: 2_000_000) == 102_000_000)
    }

    @Test(arguments: [100_000_000, 900_000_000]) func `Responses that come after the 429s of a burst count too`(
        at time: Int64
    ) {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<64 { pace.take(at: 0) }
        for number in 1...54 { pace.heard(429, at: Int64(number) * 1_000_000) }
        for _ in 0..<10 { pace.heard(200, at: time) }
        #expect(pace.nextTime(at: time) == time + 100_000_000)
    }

    @Test func `429s of a burst that come late leave the rate as it is`() {
        var pace = Self.pace(learning: 10)
        for tenth in 0..<50 { pace.heard(429, at: Int64(tenth) * 100_000_000) }
        let next = pace.nextTime(at: 30 * Self.second)
        pace.take(at: next)
        #expect(pace.nextTime(at: next) == next + 100_000_000)
    }

    @Test func `What is accepted at the learned rate does not raise it`() {
        var pace = Self.pace(learning: 10)
        for tenth in 1...9 {
            pace.take(at: Int64(tenth) * 100_000_000)
            pace.heard(200, at: Int64(tenth) * 100_000_000)
        }
        let next = pace.nextTime(at: Self.second)
        pace.take(at: next)
        // Nearly a second of growth.
        #expect((91_000_000...92_000_000).contains(pace.nextTime(at: next) - next))
    }

    @Test func `The last of two 429s that are close together begins the wait`() {
        var pace = Self.pace(learning: 10)
        pace.take(at: 100_000_000)
        pace.heard(429, at: 150_000_000)
        #expect(pace.nextTime(at: 150_000_000) == 250_000_000)
    }

    @Test func `An attempt that began before the 429 and was not sent ends no wait`() {
        var pace = Pace(rate: nil, adapts: true)
        pace.take(at: 0)
        pace.heard(429, at: 0)
        pace.release(at: 0)
        #expect(pace.nextTime(at: 0) == Self.second)
    }

    // MARK: Growth

    @Test func `The rate grows by a tenth each second while no 429 comes`() {
        var pace = Self.pace(learning: 10)
        Self.send(&pace, at: Self.second)
        let begins = Self.begins(of: &pace, from: Self.second, until: 12 * Self.second)
        func count(in second: Int64) -> Int { begins.count { $0 / 1000 == second } }
        #expect((10...11).contains(count(in: 1)))
        #expect((11...12).contains(count(in: 2)))
        // 1.1 to the power of 10 is 2.6.
        #expect((24...29).contains(count(in: 11)))
    }

    @Test func `The rate does not grow while those who wait find that the host is to be left alone`() {
        var pace = Self.pace(learning: 10)
        for tenth in 1..<300 {
            pace.take(at: Int64(tenth) * 100_000_000)
            pace.release(at: Int64(tenth) * 100_000_000)
        }
        let begins = Self.begins(of: &pace, from: 30 * Self.second, until: 30 * Self.second + 250_000_000)
        #expect(begins == [30_000, 30_100, 30_200])
    }

    @Test func `The rate does not grow by late responses to what was sent before the 429`() {
        var pace = Self.pace(learning: 10)
        for second in 1..<30 { pace.heard(200, at: Int64(second) * Self.second) }
        let begins = Self.begins(of: &pace, from: 30 * Self.second, until: 30 * Self.second + 250_000_000)
        #expect(begins == [30_000, 30_100, 30_200])
    }

    @Test func `The rate does not grow before a response is accepted`() {
        var pace = Self.pace(learning: 10)
        let begins = Self.begins(of: &pace, from: Self.second, until: 5 * Self.second)
        #expect(begins.count == 40)
    }

    @Test func `A host that answers 429 again after 100 s is sent what it accepted then`() {
        var pace = Self.pace(learning: 10)
        Self.send(&pace, at: Self.second)
        for _ in 0..<10 { Self.send(&pace, at: 100 * Self.second) }
        pace.take(at: 100 * Self.second)
        pace.heard(429, at: 100 * Self.second)
        #expect(pace.nextTime(at: 100 * Self.second) == 100 * Self.second + 100_000_000)
    }

    @Test func `A second 429 lowers the rate to what the host accepted in the second before`() {
        var pace = Self.pace(learning: 100)
        for fifth in 5...50 { Self.send(&pace, at: Int64(fifth) * 200_000_000) }
        pace.take(at: 10 * Self.second)
        pace.heard(429, at: 10 * Self.second)
        #expect(pace.nextTime(at: 10 * Self.second) == 10 * Self.second + 200_000_000)
    }

    @Test func `A 429 right after the pause lowers the rate by 30 %`() {
        var pace = Self.pace(learning: 100)
        let now = 30 * Self.second
        Self.send(&pace, at: now)
        pace.take(at: now + 1)
        pace.heard(429, at: now + 1)
        let next = pace.nextTime(at: now + Self.second)
        pace.take(at: next)
        #expect((14_000_000...15_000_000).contains(pace.nextTime(at: next) - next))
    }

    @Test func `A 429 after a quiet second lowers the rate by 30 %`() {
        var pace = Self.pace(learning: 10)
        Self.send(&pace, at: Self.second)
        pace.take(at: 9 * Self.second)
        pace.heard(429, at: 9 * Self.second)
        let next = pace.nextTime(at: 10 * Self.second)
        pace.take(at: next)
        #expect((142_000_000...143_000_000).contains(pace.nextTime(at: next) - next))
    }

    @Test func `A host that accepts nothing is sent one attempt in ten seconds at least`() {
        var pace = Self.pace(learning: 10)
        for second in 1...50 {
            pace.take(at: Int64(second) * 2 * Self.second)
            pace.heard(429, at: Int64(second) * 2 * Self.second)
        }
        let now = 100 * Self.second
        #expect(pace.nextTime(at: now) - now == 10 * Self.second)
    }

    @Test func `A host that accepted nothing before its first 429 is tried after a second, and then ever faster`() {
        var pace = Pace(rate: nil, adapts: true)
        pace.take(at: 0)
        pace.heard(429, at: 0)
        #expect(pace.nextTime(at: 0) == Self.second)
        Self.send(&pace, at: Self.second)
        let begins = Self.begins(of: &pace, from: Self.second, until: 6 * Self.second)
        #expect((25...60).contains(begins.count))
    }

    @Test func `While it goes on to answer 429 it is tried less and less`() {
        var pace = Pace(rate: nil, adapts: true)
        var now: Int64 = 0
        for _ in 0..<20 {
            pace.heard(429, at: now)
            now = pace.nextTime(at: now)
            pace.take(at: now)
        }
        pace.heard(429, at: now)
        #expect(pace.nextTime(at: now) - now == 10 * Self.second)
    }

    // MARK: Beside a set rate

    @Test func `A set rate holds beside a learned one`() {
        var pace = Self.pace(.perSecond(10), learning: 100)
        #expect(Self.begins(of: &pace, from: Self.second, until: 2 * Self.second).count == 10)
    }

    @Test func `What a host accepts beside a 429 does not undo the wait of a set rate`() {
        var pace = Pace(rate: .perSecond(1, burst: 64), adapts: true)
        for _ in 0..<64 { pace.take(at: 0) }
        pace.heard(429, at: 0)
        for _ in 0..<10 { pace.heard(200, at: 0) }
        #expect(pace.nextTime(at: 0) == Self.second)
    }

    @Test func `A set burst does not multiply a lower rate that was learned`() {
        var pace = Self.pace(.perSecond(1000, burst: 1000), learning: 10)
        #expect(
            Self.begins(of: &pace, from: 9 * Self.second, until: 9 * Self.second + 250_000_000) == [9000, 9100, 9200])
    }

    @Test func `A set burst holds beside a higher rate that was learned`() {
        var pace = Self.pace(.perSecond(1, burst: 5), learning: 10)
        #expect(Self.begins(of: &pace, from: 9 * Self.second, until: 9 * Self.second + 1).count == 5)
    }

    // MARK: Memory

    @Test func `A minute after the rate began to grow the host has no pace of its own`() {
        var pace = Self.pace(learning: 1)
        Self.send(&pace, at: 10 * Self.second)
        #expect(!pace.isIdle(at: 69 * Self.second))
        #expect(pace.isIdle(at: 70 * Self.second))
        for _ in 0..<100 { pace.take(at: 70 * Self.second) }
        #expect(pace.nextTime(at: 70 * Self.second) == 70 * Self.second)
    }

    @Test func `The rate is not forgotten in a pause of more than a minute`() {
        var pace = Self.pace(learning: 10)
        let begins = Self.begins(of: &pace, from: 200 * Self.second, until: 200 * Self.second + 250_000_000)
        #expect(begins == [200_000, 200_100, 200_200])
    }

    @Test func `A rate at which nothing is accepted is forgotten after half a day`() {
        let pace = Self.pace(learning: 10)
        #expect(!pace.isIdle(at: HostMemory.longestRest - 1))
        #expect(pace.isIdle(at: HostMemory.longestRest))
    }

    // MARK: Extremes

    @Test(arguments: [(1e-9, 10), (1e-10, 5), (.leastNonzeroMagnitude, 3), (1e-300, 1)])
    func `The lowest rates allow their burst and no more`(perSecond: Double, burst: Int) {
        var pace = Pace(rate: .perSecond(perSecond, burst: burst), adapts: true)
        #expect(Self.begins(of: &pace, until: 3600 * Self.second).count == burst)
    }

    @Test func `A wait without end does not overflow`() {
        var pace = Pace(rate: .perSecond(1e-10), adapts: true)
        for _ in 0..<100 { pace.take(at: .max - 1) }
        #expect(pace.nextTime(at: .max - 1) == .max)
    }

    // MARK: What counts

    @Test(arguments: [500, 502, 503]) func `A host that fails accepts nothing`(status: Int) {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<100 { pace.heard(status, at: 0) }
        pace.heard(429, at: 0)
        #expect(pace.nextTime(at: 0) == Self.second)
    }

    @Test func `A count of the last second forgets what is older`() {
        var count = RecentCount()
        for tenth in 0..<30 { count.add(at: Int64(tenth) * 100_000_000) }
        #expect(count.count(at: 2_900_000_000) == 10)
        #expect(count.count(at: 3_400_000_000) == 5)
        #expect(count.count(at: 3_900_000_000) == 0)
        #expect(count.count(at: 100 * Self.second) == 0)
        count.add(at: 100 * Self.second)
        #expect(count.count(at: 100 * Self.second) == 1)
    }
}
