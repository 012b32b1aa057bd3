import Testing

@testable import RequestOperations

/// The room that retries leave when a window forgets them: how it comes back.
@Suite struct RetryWindowRoomTests: WindowTests {
    /// The number of retries that are granted in each slice to those who ask for as many as there are.
    private static func granted(_ window: inout RetryWindow, in slices: Range<Int64>, requests: Int = 0) -> [Int] {
        slices.map { slice in
            for _ in 0..<requests { window.countRequest(at: slice * second) }
            return granted(&window, at: slice * second, of: 400)
        }
    }

    @Test func theRoomOfABurstComesBackATenthInEachSlice() {
        var window = Self.window()
        #expect(
            Self.granted(&window, in: 0..<40) == [100] + .init(repeating: 0, count: 9) + .init(repeating: 10, count: 30)
        )
    }

    @Test func theRoomOfABurstInTwoSlicesComesBackATenthInEachSlice() {
        var window = Self.window()
        #expect(Self.granted(&window, at: 0, of: 60) == 60)
        #expect(
            Self.granted(&window, in: 1..<40) == [40] + .init(repeating: 0, count: 8) + .init(repeating: 10, count: 30))
    }

    @Test func theShareOfTheRequestsComesBackInEachSliceAsWell() {
        var window = Self.window()
        let first = Self.granted(&window, in: 0..<10, requests: 1000)
        #expect(first == [300] + .init(repeating: 200, count: 9))
        // 210 a second, which is 20 % of a thousand and ten besides.
        #expect(Self.granted(&window, in: 10..<40, requests: 1000) == .init(repeating: 210, count: 30))
    }

    @Test func roomThatIsNotAskedForIsSavedUp() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        #expect(
            (10..<22).map { window.balance(at: $0 * Self.second) } == Array(stride(from: 10, through: 100, by: 10)) + [
                100, 100,
            ])
    }

    @Test func afterALongPauseTheRoomOfABurstIsWhole() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        #expect(window.balance(at: 3600 * Self.second) == 100)
    }

    @Test func whoeverLooksSeldomSeesTheSameAsWhoeverLooksOften() {
        var seldom = Self.window()
        _ = Self.granted(&seldom, at: 0)
        var often = seldom
        for second in Int64(0)..<15 { _ = often.balance(at: second * Self.second) }
        #expect(seldom.balance(at: 15 * Self.second) == often.balance(at: 15 * Self.second))
    }

    @Test(arguments: [1, 3, 5])
    func aReserveThatIsSmallerThanAWindowHasSlicesComesBackWholeInEachWindow(reserve: Int) {
        var window = Self.window(ratio: 0, reserve: Double(reserve))
        for first in stride(from: Int64(0), to: 100, by: 10) {
            #expect(Self.granted(&window, in: first..<first + 10).reduce(0, +) == reserve)
        }
    }

    @Test func requestsBringTheirShareAtOnceWhileRoomIsHeldBack() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        for _ in 0..<50 { window.countRequest(at: 10 * Self.second) }
        #expect(Self.granted(&window, at: 10 * Self.second) == 10 + 10)
    }

    @Test func requestsBringTheirShareAfterABurstThatNoReserveGivesBack() {
        var window = Self.window(reserve: 0)
        for _ in 0..<10_000 { window.countRequest(at: 9 * Self.second) }
        #expect(Self.granted(&window, at: 9 * Self.second) == 2000)
        for second in Int64(20)..<30 {
            for _ in 0..<10 { window.countRequest(at: second * Self.second) }
            #expect(Self.granted(&window, at: second * Self.second) == 2)
        }
    }

    @Test func aRetryThatIsTakenBackWhileRoomIsHeldBackIsThereForAnother() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        _ = Self.granted(&window, at: 10 * Self.second)
        window.takeBack(10 * Self.second, at: 10 * Self.second)
        #expect(Self.granted(&window, at: 10 * Self.second) == 1)
    }

    @Test func noSliceAfterABurstGetsMoreThanHalfAgainItsPart() {
        // A load without a break, seeded, that asks for all there is.
        let random = RandomSource(seed: 7)
        var window = Self.window()
        for slice in Int64(0)..<200 {
            for _ in 0..<150 + Int(random.next() * 100) { window.countRequest(at: slice * Self.second) }
            let granted = Self.granted(&window, at: slice * Self.second, of: 400)
            // The first window has the burst, and then a slice's own part is 40 to 60.
            #expect(slice < 10 || (0...75).contains(granted), "slice \(slice): \(granted)")
        }
    }

    @Test func whoFindsRoomHeldBackIsPostponedToTheNextSlices() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let now = 10 * Self.second
        #expect(Self.granted(&window, at: now) == 10)
        let moments = Self.postponed(&window, at: now, until: .max, 25)
        #expect(
            moments.map { $0 / Self.second } == .init(repeating: 11, count: 10) + .init(repeating: 12, count: 10)
                + .init(repeating: 13, count: 5))
    }

    @Test func whoComesWhenRoomThatWasHeldBackIsGivenOutIsBehindThoseThatWait() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        _ = Self.granted(&window, at: 10 * Self.second)
        let waiting = Self.postponed(&window, at: 10 * Self.second, until: .max, 25)
        for second in Int64(11)..<13 { #expect(Self.granted(&window, at: second * Self.second) == 0) }
        // Of the tenth of the thirteenth second they leave the other half.
        #expect(Self.granted(&window, at: 13 * Self.second) == 5)
        #expect(waiting.last.map { $0 / Self.second } == 13)
    }

    @Test func aWindowWithRoomThatIsHeldBackIsNotIdle() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        #expect(window.balance(at: 15 * Self.second) == 60)
        #expect(!window.isIdle(at: 18 * Self.second))
        #expect(window.balance(at: 18 * Self.second) == 90)
    }
}
