import Testing

@testable import RequestOperations

struct LineTests {
    @Test func `What came first comes out first`() {
        var line = Line<Int>()
        var expected: [Int] = []
        var taken: [Int] = []
        for number in 0..<1000 {
            line.append(number)
            expected.append(number)
            // Now and then it runs empty.
            if number % 3 != 0 { taken += [line.popFirst(), line.popFirst()].compactMap(\.self) }
        }
        #expect(taken + line.elements == expected)
    }

    @Test func `An empty line has no first`() {
        var line = Line<Int>()
        #expect(line.isEmpty && line.first == nil && line.popFirst() == nil)
        line.append(1)
        #expect(!line.isEmpty && line.first == 1 && line.popFirst() == 1 && line.isEmpty)
    }
}
