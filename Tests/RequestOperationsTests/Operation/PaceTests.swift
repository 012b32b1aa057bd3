import Testing

@testable import RequestOperations

@Suite struct PaceTests {
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
        pace.giveBack(at: 0)
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

    @Test func `Responses that come beside the first 429 count too`() {
        var pace = Pace(rate: nil, adapts: true)
        pace.heard(429, at: 0)
        for _ in 0..<10 { pace.heard(200, at: 1_000_000) }
        pace.heard(429, at: 2_000_000)
        #expect(pace.nextTime(at: 2_000_000) - 2_000_000 <= 10_000_000_000)
        let next = pace.nextTime(at: 20 * Self.second)
        pace.take(at: next)
        #expect(pace.nextTime(at: next) == next + 100_000_000)
    }

    @Test func `The rate grows by a tenth each second while no 429 comes`() {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<10 { pace.heard(200, at: 0) }
        pace.heard(429, at: 0)
        let begins = Self.begins(of: &pace, from: Self.second, until: 12 * Self.second)
        func count(in second: Int64) -> Int { begins.count { $0 / 1000 == second } }
        #expect((10...11).contains(count(in: 1)))
        #expect((11...12).contains(count(in: 2)))
        // 1.1 to the power of 10 is 2.6.
        #expect((24...29).contains(count(in: 11)))
    }

    @Test func `A second 429 lowers the rate again`() {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<100 { pace.heard(200, at: 0) }
        pace.heard(429, at: 0)
        for number in 0..<5 { pace.heard(200, at: 10 * Self.second + Int64(number)) }
        pace.heard(429, at: 10 * Self.second)
        let next = pace.nextTime(at: 11 * Self.second)
        pace.take(at: next)
        // A hundred had not been raised, since nothing was sent: 70 % of it are 14 ms.
        #expect((14_000_000...15_000_000).contains(pace.nextTime(at: next) - next))
    }

    @Test func `A host that accepts nothing is sent one attempt in ten seconds at least`() {
        var pace = Pace(rate: nil, adapts: true)
        for second in 0..<50 { pace.heard(429, at: Int64(second) * 2 * Self.second) }
        let now = 98 * Self.second
        #expect(pace.nextTime(at: now) - now == 10 * Self.second)
    }

    @Test func `A set rate holds beside a learned one`() {
        var pace = Pace(rate: .perSecond(10), adapts: true)
        for _ in 0..<100 { pace.heard(200, at: 0) }
        pace.heard(429, at: 0)
        #expect(Self.begins(of: &pace, from: Self.second, until: 2 * Self.second).count <= 11)
    }

    @Test func `A minute after the last 429 the host has no pace of its own`() {
        var pace = Pace(rate: nil, adapts: true)
        pace.heard(429, at: 0)
        #expect(!pace.isIdle(at: 59 * Self.second))
        #expect(pace.isIdle(at: 60 * Self.second))
        #expect(pace.nextTime(at: 60 * Self.second) == 60 * Self.second)
    }

    @Test(arguments: [500, 502, 503]) func `A host that fails accepts nothing`(status: Int) {
        var pace = Pace(rate: nil, adapts: true)
        for _ in 0..<100 { pace.heard(status, at: 0) }
        pace.heard(429, at: 0)
        #expect(pace.nextTime(at: 0) == 10 * Self.second)
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
