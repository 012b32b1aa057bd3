import Testing

@testable import RequestOperations

@Suite struct HeldTests {
    private let held = Held("first")

    @Test func whatIsTakenIsHeldNoLonger() {
        #expect(held.right == "first")
        #expect(held.take() == "first")
        #expect(held.right == nil)
        #expect(held.take() == nil)
    }

    @Test func anotherRightFollowsOneThatWasTaken() {
        _ = held.take()
        #expect(held.hold("second") == nil)
        #expect(held.right == "second")
    }

    @Test func aRightThatIsReplacedIsReturned() {
        #expect(held.hold("second") == "first")
        #expect(held.right == "second")
    }

    @Test func aRightThatComesAfterTheEndIsReturned() {
        #expect(held.close() == "first")
        #expect(held.hold("second") == "second")
        #expect(held.right == nil)
    }

    @Test func theEndTakesWhatIsHeldOnce() {
        #expect(held.close() == "first")
        #expect(held.close() == nil)
    }
}
