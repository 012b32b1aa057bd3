import Testing

@testable import RequestOperations

struct QueueTests {
    @Test func `What came first comes out first`() {
        var queue = Queue<Int>()
        var expected: [Int] = []
        var taken: [Int] = []
        for number in 0..<1000 {
            queue.append(number)
            expected.append(number)
            // Now and then it runs empty.
            if number % 3 != 0 { taken += [queue.popFirst(), queue.popFirst()].compactMap(\.self) }
        }
        #expect(taken + queue.elements == expected)
    }

    @Test func `An empty queue has no first`() {
        var queue = Queue<Int>()
        #expect(queue.isEmpty && queue.first == nil && queue.popFirst() == nil)
        queue.append(1)
        #expect(!queue.isEmpty && queue.first == 1 && queue.popFirst() == 1 && queue.isEmpty)
    }
}
