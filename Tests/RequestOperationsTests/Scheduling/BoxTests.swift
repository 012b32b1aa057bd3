import Testing

@testable import RequestOperations

@Suite struct BoxTests {
    @Test func aBoxThatSomebodyElseHasIsCopiedWhenItIsChanged() {
        var box = Box([1])
        let other = box
        box.edit { $0.append(2) }
        #expect(box.value == [1, 2] && other.value == [1])
    }

    @Test func aBoxThatNobodyElseHasIsChangedWhereItIs() {
        var box = Box(Array(0..<1000))
        func place() -> Int { box.value.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
        let before = place()
        box.edit { $0[0] = 1 }
        #expect(place() == before)
    }
}
