import Testing

@testable import RequestOperations

@Suite struct TellingLineTests {
    @Test func `One thread tells what all add in order`() {
        var line = TellingLine<Int>()
        let mustTell = [line.add(1), line.add(2)]
        #expect(mustTell == [true, false])
        var told = [line.next()]
        let mustTellMeanwhile = line.add(3)
        told += (1...3).map { _ in line.next() }
        #expect(!mustTellMeanwhile && told == [1, 2, 3, nil])
        let (mustTellAgain, next) = (line.add(4), line.next())
        #expect(mustTellAgain && next == 4)
    }
}
