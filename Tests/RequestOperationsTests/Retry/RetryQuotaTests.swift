import Testing

@testable import RequestOperations

@Suite struct RetryQuotaTests {
    @Test func aRetryTakesItsCost() {
        var quota = RetryQuota(capacity: 500)
        #expect(quota.withdraw(14) && quota.tokens == 486)
        #expect(quota.withdraw(14) && quota.tokens == 472)
    }

    @Test func withoutEnoughTokensNothingIsTaken() {
        var quota = RetryQuota(capacity: 12)
        #expect(quota.withdraw(10) && !quota.withdraw(10))
        #expect(quota.tokens == 2)
    }

    @Test func theLastTokensCanBeTaken() {
        var quota = RetryQuota(capacity: 10)
        #expect(quota.withdraw(10) && quota.tokens == 0)
    }

    @Test func noMoreThanTheCapacityComesBack() {
        var quota = RetryQuota(capacity: 10)
        _ = quota.withdraw(5)
        quota.refund(1)
        #expect(quota.tokens == 6 && !quota.isFull)
        quota.refund(100)
        #expect(quota.tokens == 10 && quota.isFull)
    }

    @Test func theLargestNumbersDoNotOverflow() {
        var quota = RetryQuota(capacity: .max)
        quota.refund(.max)
        #expect(quota.isFull)
        #expect(quota.withdraw(.max) && quota.tokens == 0 && !quota.withdraw(1))
        quota.refund(.max)
        quota.refund(1)
        #expect(quota.tokens == .max)
    }
}
