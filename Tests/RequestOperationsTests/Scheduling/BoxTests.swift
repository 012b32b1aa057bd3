import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct BoxTests {
    @Test func `A box that somebody else has is copied when it is changed`() {
        var box = Box([1])
        let other = box
        box.edit { $0.append(2) }
        #expect(box.value == [1, 2] && other.value == [1])
    }

    @Test func `A box that nobody else has is changed where it is`() {
        var box = Box(Array(0..<1000))
        func place() -> Int { box.value.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
        let before = place()
        box.edit { $0[0] = 1 }
        #expect(place() == before)
    }
}
