import Testing

@testable import RequestOperations

@Suite struct RetryQuotaTests {
    @Test func aRetryTakesItsCost() {
        var quota = RetryQuota(capacity: 500)
        #expect(quota.withdraw(14, at: 0) && quota.tokens(at: 0) == 486)
        #expect(quota.withdraw(14, at: 0) && quota.tokens(at: 0) == 472)
    }

    @Test func withoutEnoughTokensNothingIsTaken() {
        var quota = RetryQuota(capacity: 12)
        #expect(quota.withdraw(10, at: 0) && !quota.withdraw(10, at: 0))
        #expect(quota.tokens(at: 0) == 2)
    }

    @Test func theLastTokensCanBeTaken() {
        var quota = RetryQuota(capacity: 10)
        #expect(quota.withdraw(10, at: 0) && quota.tokens(at: 0) == 0)
    }

    @Test func noMoreThanTheCapacityComesBack() {
        var quota = RetryQuota(capacity: 10)
        _ = quota.withdraw(5, at: 0)
        quota.refund(1, at: 0)
        #expect(quota.tokens(at: 0) == 6 && !quota.isFull(at: 0))
        quota.refund(100, at: 0)
        #expect(quota.tokens(at: 0) == 10 && quota.isFull(at: 0))
    }

    @Test func aQuotaOfAnySizeCanBeFull() {
        var quota = RetryQuota(capacity: .max)
        _ = quota.withdraw(5, at: 0)
        quota.refund(.max, at: 0)
        #expect(quota.tokens(at: 0) == .max)
    }

    @Test func itIsFullAgainWhenNobodyHasUsedItForHalfADay() {
        var quota = RetryQuota(capacity: 10)
        _ = quota.withdraw(8, at: 0)
        quota.refund(1, at: 1)
        #expect(quota.tokens(at: HostMemory.longestRest) == 3)
        let isGranted = quota.withdraw(8, at: HostMemory.longestRest + 1)
        #expect(isGranted && quota.tokens(at: HostMemory.longestRest + 1) == 2)
    }

    @Test func theLargestNumbersDoNotOverflow() {
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
