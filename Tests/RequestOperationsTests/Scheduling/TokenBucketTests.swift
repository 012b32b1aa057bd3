import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct TokenBucketTests {
    private static let second: Int64 = 1_000_000_000

    private static func bucket(
        perSecond: Double = 10, reserve: Double = 100, capacity: Double = 100, at now: Int64 = 0
    ) -> TokenBucket {
        TokenBucket(
            TokenBucket.Terms(reserve: reserve, capacity: capacity, perSecond: perSecond, rest: 10 * second), at: now)
    }

    /// A full bucket that time does not fill.
    private static func quota(_ capacity: Double) -> TokenBucket {
        TokenBucket(
            TokenBucket.Terms(
                reserve: capacity, capacity: capacity, perSecond: 0, rest: HostMemory.longestRest), at: 0)
    }

    /// How many retries are granted at once.
    private static func granted(_ bucket: inout TokenBucket, at now: Int64) -> Int {
        var count = 0
        while bucket.take(1, at: now) == 0 { count += 1 }
        return count
    }

    @Test func `A new one has its reserve`() {
        var bucket = Self.bucket()
        #expect(bucket.balance(at: 0) == 100)
        #expect(Self.granted(&bucket, at: 0) == 100 && bucket.balance(at: 0) == 0)
    }

    @Test func `Time fills it`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        #expect(Self.granted(&bucket, at: Self.second) == 10)
        #expect(bucket.balance(at: 3 * Self.second) == 20)
        #expect(bucket.balance(at: 1000 * Self.second) == 100)
    }

    @Test func `Requests fill it`() {
        var bucket = Self.bucket(perSecond: 0)
        _ = Self.granted(&bucket, at: 0)
        for _ in 0..<50 { bucket.add(0.2, at: 0) }
        #expect(bucket.balance(at: 0) == 10)
    }

    @Test func `A budget of requests alone begins with nothing and saves ten`() {
        var bucket = TokenBucket(RetryBudget(ratio: 0.1, minimumPerSecond: 0).bucket, at: 0)
        #expect(bucket.take(1, at: 0, within: .max) == nil)
        for _ in 0..<10 { bucket.add(0.1, at: 0) }
        #expect(bucket.balance(at: 0) == 1)
        for _ in 0..<1000 { bucket.add(0.1, at: 0) }
        #expect(bucket.balance(at: 0) == 10)
    }

    @Test func `Those that wait follow each other evenly`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        for number in 1...20 {
            guard let wait = bucket.take(1, at: 0, within: .max) else {
                Issue.record("no room")
                return
            }
            #expect(abs(wait - Int64(number) * Self.second / 10) < 1000)
        }
    }

    @Test func `Nobody waits for longer than its limit`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        #expect(bucket.take(1, at: 0, within: Self.second / 20) == nil)
        #expect(bucket.wait(for: 1, at: 0) > Self.second / 20)
    }

    @Test func `What is taken back is there for the next`() {
        var bucket = Self.bucket(perSecond: 0)
        _ = Self.granted(&bucket, at: 0)
        bucket.add(1, at: 0)
        #expect(Self.granted(&bucket, at: 0) == 1)
        for _ in 0..<1000 { bucket.add(1, at: 0) }
        #expect(bucket.balance(at: 0) == 100)
    }

    @Test func `A retry that goes in any case is paid for by those after it`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        bucket.spend(1, at: 0)
        #expect(bucket.balance(at: Self.second / 10) == 0 && bucket.balance(at: Self.second / 5) == 1)
    }

    @Test func `It is idle when it is as new for a window`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        #expect(!bucket.isAsNew(at: 9 * Self.second) && bucket.isAsNew(at: 10 * Self.second))
    }

    @Test func `A time that lies back changes nothing`() {
        var bucket = Self.bucket(at: 5 * Self.second)
        _ = Self.granted(&bucket, at: 5 * Self.second)
        #expect(bucket.balance(at: 4 * Self.second) == 0)
    }

    // MARK: Without time

    @Test func `A retry takes its cost`() {
        var quota = Self.quota(500)
        #expect(quota.take(14, at: 0) == 0 && quota.balance(at: 0) == 486)
        #expect(quota.take(14, at: 0) == 0 && quota.balance(at: 0) == 472)
    }

    @Test func `Without enough tokens nothing is taken`() {
        var quota = Self.quota(12)
        #expect(quota.take(10, at: 0) == 0 && quota.take(10, at: 0, within: .max) == nil)
        #expect(quota.balance(at: 0) == 2)
    }

    @Test func `The last tokens can be taken`() {
        var quota = Self.quota(10)
        #expect(quota.take(10, at: 0) == 0 && quota.balance(at: 0) == 0)
    }

    @Test func `No more than the capacity comes back`() {
        var quota = Self.quota(10)
        _ = quota.take(5, at: 0)
        quota.add(1, at: 0)
        #expect(quota.balance(at: 0) == 6 && !quota.isAsNew(at: 0))
        quota.add(100, at: 0)
        #expect(quota.balance(at: 0) == 10 && quota.isAsNew(at: 0))
    }

    @Test func `It is full again when nobody has used it for half a day`() {
        var quota = Self.quota(10)
        _ = quota.take(8, at: 0)
        quota.add(1, at: 1)
        #expect(quota.balance(at: HostMemory.longestRest) == 3)
        let wait = quota.take(8, at: HostMemory.longestRest + 1)
        #expect(wait == 0 && quota.balance(at: HostMemory.longestRest + 1) == 2)
    }
}
