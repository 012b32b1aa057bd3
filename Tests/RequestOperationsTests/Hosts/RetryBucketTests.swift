import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RetryBucketTests {
    private static let second: Int64 = 1_000_000_000

    private static func bucket(
        ratio: Double = 0.2, perSecond: Double = 10, reserve: Double = 100, at now: Int64 = 0
    ) -> RetryBucket {
        RetryBucket(
            RetryBucket.Terms(ratio: ratio, perSecond: perSecond, reserve: reserve, window: 10 * second), at: now)
    }

    /// How many retries are granted at once.
    private static func granted(_ bucket: inout RetryBucket, at now: Int64) -> Int {
        var count = 0
        while bucket.withdraw(at: now, waitingFor: nil) == .granted { count += 1 }
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
        for _ in 0..<50 { bucket.countRequest(at: 0) }
        #expect(bucket.balance(at: 0) == 10)
    }

    @Test func `A budget of requests alone begins with nothing and saves ten`() {
        var bucket = Self.bucket(ratio: 0.1, perSecond: 0, reserve: 0)
        #expect(bucket.withdraw(at: 0, waitingFor: .max) == .refused)
        for _ in 0..<10 { bucket.countRequest(at: 0) }
        #expect(bucket.balance(at: 0) == 1)
        for _ in 0..<1000 { bucket.countRequest(at: 0) }
        #expect(bucket.balance(at: 0) == 10)
    }

    @Test func `Those that wait follow each other evenly`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        for number in 1...20 {
            guard case .postponed(let wait) = bucket.withdraw(at: 0, waitingFor: .max) else {
                Issue.record("no room")
                return
            }
            #expect(abs(wait - Int64(number) * Self.second / 10) < 1000)
        }
    }

    @Test func `Nobody waits for longer than its limit`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        #expect(bucket.withdraw(at: 0, waitingFor: Self.second / 20) == .refused)
        #expect(bucket.wait(at: 0) > Self.second / 20)
    }

    @Test func `What is taken back is there for the next`() {
        var bucket = Self.bucket(perSecond: 0)
        _ = Self.granted(&bucket, at: 0)
        bucket.takeBack(at: 0)
        #expect(Self.granted(&bucket, at: 0) == 1)
        for _ in 0..<1000 { bucket.takeBack(at: 0) }
        #expect(bucket.balance(at: 0) == 100)
    }

    @Test func `A retry that goes in any case is paid for by those after it`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        bucket.withdrawAnyway(at: 0)
        #expect(bucket.balance(at: Self.second / 10) == 0 && bucket.balance(at: Self.second / 5) == 1)
    }

    @Test func `It is idle when it is as new for a window`() {
        var bucket = Self.bucket()
        _ = Self.granted(&bucket, at: 0)
        #expect(!bucket.isIdle(at: 9 * Self.second) && bucket.isIdle(at: 10 * Self.second))
    }

    @Test func `A time that lies back changes nothing`() {
        var bucket = Self.bucket(at: 5 * Self.second)
        _ = Self.granted(&bucket, at: 5 * Self.second)
        #expect(bucket.balance(at: 4 * Self.second) == 0)
    }
}
