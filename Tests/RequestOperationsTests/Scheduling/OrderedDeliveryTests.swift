import Testing

@testable import RequestOperations

@Suite struct OrderedDeliveryTests {
    @Test func `One thread tells what all add in order`() {
        var delivery = OrderedDelivery<Int>()
        let mustTell = [delivery.add(1), delivery.add(2)]
        #expect(mustTell == [true, false])
        var told = [delivery.next()]
        let mustTellMeanwhile = delivery.add(3)
        told += (1...3).map { _ in delivery.next() }
        #expect(!mustTellMeanwhile && told == [1, 2, 3, nil])
        let (mustTellAgain, next) = (delivery.add(4), delivery.next())
        #expect(mustTellAgain && next == 4)
    }
}
