import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RetryQuotaTests {
    @Test func `A retry takes its cost`() {
        var quota = RetryQuota(capacity: 500)
        #expect(quota.withdraw(14, at: 0) && quota.tokens(at: 0) == 486)
        #expect(quota.withdraw(14, at: 0) && quota.tokens(at: 0) == 472)
    }

    @Test func `Without enough tokens nothing is taken`() {
        var quota = RetryQuota(capacity: 12)
        #expect(quota.withdraw(10, at: 0) && !quota.withdraw(10, at: 0))
        #expect(quota.tokens(at: 0) == 2)
    }

    @Test func `The last tokens can be taken`() {
        var quota = RetryQuota(capacity: 10)
        #expect(quota.withdraw(10, at: 0) && quota.tokens(at: 0) == 0)
    }

    @Test func `No more than the capacity comes back`() {
        var quota = RetryQuota(capacity: 10)
        _ = quota.withdraw(5, at: 0)
        quota.refund(1, at: 0)
        #expect(quota.tokens(at: 0) == 6 && !quota.isFull(at: 0))
        quota.refund(100, at: 0)
        #expect(quota.tokens(at: 0) == 10 && quota.isFull(at: 0))
    }

    @Test func `A quota of any size can be full`() {
        var quota = RetryQuota(capacity: .max)
        _ = quota.withdraw(5, at: 0)
        quota.refund(.max, at: 0)
        #expect(quota.tokens(at: 0) == .max)
    }

    @Test func `It is full again when nobody has used it for half a day`() {
        var quota = RetryQuota(capacity: 10)
        _ = quota.withdraw(8, at: 0)
        quota.refund(1, at: 1)
        #expect(quota.tokens(at: HostMemory.longestRest) == 3)
        let isGranted = quota.withdraw(8, at: HostMemory.longestRest + 1)
        #expect(isGranted && quota.tokens(at: HostMemory.longestRest + 1) == 2)
    }

    @Test func `The largest numbers do not overflow`() {
        var quota = RetryQuota(capacity: .max)
        quota.refund(.max, at: 0)
        #expect(quota.isFull(at: 0))
        let isGranted = quota.withdraw(.max, at: 0)
        #expect(isGranted && quota.tokens(at: 0) == 0)
        let isGrantedMore = quota.withdraw(1, at: 0)
        #expect(!isGrantedMore)
        quota.refund(.max, at: 0)
        quota.refund(1, at: 0)
        #expect(quota.tokens(at: 0) == .max)
    }
}
