import Testing

@testable import RequestOperations

@Suite struct RetryWindowTests: WindowTests {
    // MARK: What is granted

    @Test func theReserveIsThereWithoutAnyRequest() {
        var window = Self.window()
        #expect(Self.granted(&window, at: 0) == 100)
    }

    @Test(arguments: [(0, 0), (4, 0), (5, 1), (9, 1), (10, 2), (1000, 200)])
    func requestsBringTheirShare(requests: Int, retries: Int) {
        var window = Self.window(reserve: 0)
        for _ in 0..<requests { window.countRequest(at: 0) }
        #expect(Self.granted(&window, at: 0) == retries)
    }

    @Test(arguments: [(0.1, 3), (0.2, 6), (0.7, 21), (1.0 / 3, 10)])
    func aShareThatIsNotExactIsNotLost(ratio: Double, retries: Int) {
        var window = Self.window(ratio: ratio, reserve: 0)
        for _ in 0..<30 { window.countRequest(at: 0) }
        #expect(Self.granted(&window, at: 0) == retries)
    }

    @Test(arguments: [(9_999, true), (10_000, false)])
    func aRequestCountsForAsLongAsTheWindow(milliseconds: Int64, isGranted: Bool) {
        var window = Self.window(ratio: 1, reserve: 0)
        window.countRequest(at: 0)
        #expect((window.withdraw(at: milliseconds * 1_000_000, postponingUntil: nil) == .granted) == isGranted)
    }

    @Test(arguments: [(9_999, 0), (10_000, 10)])
    func aRetryIsForgottenWithItsSlice(milliseconds: Int64, granted: Int) {
        var window = Self.window()
        #expect(Self.granted(&window, at: 0, of: 10) == 10)
        #expect(Self.granted(&window, at: milliseconds * 1_000_000, of: 100) == 90 + granted)
    }

    @Test func afterALongPauseNothingIsLeftOfWhatWas() {
        var window = Self.window()
        for _ in 0..<1000 { window.countRequest(at: 0) }
        #expect(Self.granted(&window, at: 0) == 300)
        #expect(Self.granted(&window, at: 1_000_000 * Self.second) == 100)
    }

    @Test func aTimeThatLiesALittleBackCountsAsNow() {
        var window = Self.window(ratio: 1, reserve: 0)
        window.countRequest(at: 20 * Self.second)
        #expect(window.withdraw(at: 5 * Self.second, postponingUntil: nil) == .granted)
        #expect(window.withdraw(at: 20 * Self.second, postponingUntil: nil) == .refused)
    }

    @Test func theBalanceIsWhatIsGrantedAtOnce() {
        var window = Self.window()
        for _ in 0..<10 { window.countRequest(at: 0) }
        #expect(window.balance(at: 0) == 102)
        _ = window.withdraw(at: 0, postponingUntil: nil)
        #expect(window.balance(at: 0) == 101)
        _ = Self.granted(&window, at: 0)
        #expect(window.balance(at: 0) == 0)
        #expect(window.balance(at: 10 * Self.second) == 10)
        #expect(Self.granted(&window, at: 10 * Self.second) == 10)
    }

    @Test func noWindowHasMoreThanWasAllowedWhenItsLastRetryWasGranted() {
        // A load that comes and goes, seeded.
        let random = RandomSource(seed: 7)
        var window = Self.window()
        var requests = [Int](repeating: 0, count: 200)
        var retries = [Int](repeating: 0, count: 200)
        for slice in 0..<200 {
            for _ in 0..<Int(random.next() * 300) {
                window.countRequest(at: Int64(slice) * Self.second)
                requests[slice] += 1
            }
            retries[slice] = Self.granted(&window, at: Int64(slice) * Self.second, of: Int(random.next() * 200))
            let last = max(slice - 9, 0)...slice
            let allowed = 100 + Double(requests[last].reduce(0, +)) * 0.2
            #expect(retries[slice] == 0 || Double(retries[last].reduce(0, +)) <= allowed)
        }
    }

    // MARK: What is postponed

    @Test func whatIsPostponedGoesToTheEarliestTimeWithRoom() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let moments = Self.postponed(&window, at: 0, until: .max, 1)
        #expect(moments.count == 1 && (10 * Self.second..<11 * Self.second).contains(moments.first ?? 0))
    }

    @Test(arguments: [11, 15, 60, 1000])
    func aRetryThatMustNotBeginBeforeATimeBeginsAtThatTime(second: Int64) {
        var window = Self.window()
        let earliest = second * Self.second + 123
        #expect(window.withdraw(at: 0, from: earliest, postponingUntil: .max) == .postponed(until: earliest))
    }

    @Test func aTimeInTheCurrentSliceIsNow() {
        var window = Self.window()
        #expect(window.withdraw(at: 0, from: Self.second - 1, postponingUntil: .max) == .granted)
    }

    @Test func aRetryThatIsNotPostponedNeedsItsRoomNow() {
        var window = Self.window()
        #expect(Self.granted(&window, at: 0) == 100)
        #expect(window.withdraw(at: 0, from: 60 * Self.second, postponingUntil: nil) == .refused)
    }

    @Test(arguments: [3, 60])
    func manyWhoMustNotBeginBeforeATimeGetTheirRoomFromThenOn(second: Int64) {
        var window = Self.window()
        let earliest = second * Self.second
        let moments = (0..<1000).compactMap { _ in
            if case .postponed(let moment) = window.withdraw(at: 0, from: earliest, postponingUntil: .max) {
                moment
            } else {
                nil
            }
        }
        #expect(moments.count == 1000 && moments.allSatisfy { $0 >= earliest })
        #expect(moments.count { $0 == earliest } == 10)
        for slice in second..<200 {
            let ten = slice * Self.second..<(slice + 10) * Self.second
            #expect(moments.count { ten.contains($0) } <= 100)
        }
    }

    @Test func thoseWithDifferentTimesAreGrantedNoMoreThanThereIs() {
        var window = Self.window()
        var moments: [Int64] = []
        for number in 0..<2000 {
            let earliest = Int64(number % 7 * 20) * Self.second
            switch window.withdraw(at: 0, from: earliest, postponingUntil: 300 * Self.second) {
            case .granted: moments.append(0)
            case .postponed(let moment): moments.append(moment)
            case .refused: break
            }
            #expect((moments.last ?? 0) < 300 * Self.second)
        }
        for slice in Int64(0)..<300 {
            let ten = slice * Self.second..<(slice + 10) * Self.second
            #expect(moments.count { ten.contains($0) } <= 100)
        }
        #expect(moments.count == 2000)
    }

    @Test func whatIsTakenBackIsThereForAnother() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let moments = Self.postponed(&window, at: 0, until: .max, 500)
        window.takeBack(moments[123], at: 0)
        let another = Self.postponed(&window, at: 0, until: .max, 2)
        #expect(another.first.map { $0 / Self.second } == moments[123] / Self.second)
        #expect(another.last.map { $0 > moments[499] } == true)
        window.takeBack(0, at: 0)
        #expect(window.balance(at: 0) == 1)
    }

    @Test func whatIsForgottenIsNotTakenBack() {
        var window = Self.window()
        _ = window.withdraw(at: 0, postponingUntil: nil)
        window.takeBack(0, at: 10 * Self.second)
        window.takeBack(50 * Self.second, at: 10 * Self.second)
        #expect(window.balance(at: 10 * Self.second) == 100)
    }

    @Test func thoseThatArePostponedAreSpreadEvenly() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let moments = Self.postponed(&window, at: 0, until: .max, 1000)
        #expect(moments.count == 1000)
        // Ten a second from the tenth on, one every tenth of a second.
        for (index, moment) in moments.enumerated() {
            #expect(moment == 10 * Self.second + Int64(index) * Self.second / 10 + Self.second / 20)
        }
    }

    @Test func requestsMakeRoomForMoreOfThem() {
        var window = Self.window()
        for _ in 0..<5000 { window.countRequest(at: 0) }
        #expect(Self.granted(&window, at: 0) == 1100)
        for _ in 0..<5000 { window.countRequest(at: Self.second) }
        #expect(Self.granted(&window, at: Self.second) == 1000)
        // When the first are forgotten, the later still count, on both sides.
        #expect(Self.postponed(&window, at: Self.second, until: 20 * Self.second, 500).count == 100)
    }

    @Test func aPromisedRoomIsTakenByNobodyElse() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let promised = Self.postponed(&window, at: 0, until: .max, 1000)
        // When the first of them are due, the window has no more room than they take.
        let now = 10 * Self.second + Self.second / 2
        #expect(promised.contains { $0 < now })
        #expect(Self.granted(&window, at: now) == 0)
        // Whoever comes then is behind them.
        let late = Self.postponed(&window, at: now, until: .max, 1)
        #expect((late.first ?? 0) > (promised.last ?? .max))
    }

    @Test(arguments: [(10, 0), (11, 10), (12, 20), (60, 500)])
    func nothingIsPostponedBeyondTheLimit(seconds: Int64, count: Int) {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let moments = Self.postponed(&window, at: 0, until: seconds * Self.second, 600)
        #expect(moments.count == count && moments.allSatisfy { $0 < seconds * Self.second })
    }

    @Test func aRefusedRetryTakesNoRoom() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        for _ in 0..<100 { #expect(window.withdraw(at: 0, postponingUntil: 5 * Self.second) == .refused) }
        #expect(window.balance(at: 20 * Self.second) == 100)
    }

    @Test(arguments: [0, 0.99])
    func withoutAReserveNothingIsPostponedToATimeOfWhichNothingIsKnown(reserve: Double) {
        var window = Self.window(reserve: reserve)
        #expect(window.withdraw(at: 0, postponingUntil: .max) == .refused)
    }

    @Test func manyThatWaitTakeTheirTurns() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let moments = Self.postponed(&window, at: 0, until: .max, 5000)
        #expect(moments.count == 5000 && moments == moments.sorted())
        #expect(moments.last.map { $0 / Self.second } == 509)
    }

    // MARK: What is brought forward

    @Test(arguments: [0, 9])
    func aRetryThatTheWindowStillHasKeepsItsRoom(second: Int64) {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        #expect(window.bringForward(0, at: second * Self.second, before: .max) == 0)
        #expect(window.balance(at: second * Self.second) == 0)
    }

    @Test func aRetryThatTheWindowHasNoMoreIsCountedNow() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let now = 10 * Self.second
        #expect(window.bringForward(0, at: now, before: .max) == now)
        #expect(window.balance(at: now) == 9)
    }

    @Test func manyThatAreBroughtForwardAtOnceGoAsThereIsRoom() {
        var window = Self.window()
        let now = 100 * Self.second
        let moments = (0..<1000).compactMap { _ in window.bringForward(0, at: now, before: .max) }
        #expect(moments.count == 1000 && moments.count { $0 == now } == 100)
        for slice in Int64(100)..<250 {
            let ten = slice * Self.second..<(slice + 10) * Self.second
            #expect(moments.count { ten.contains($0) } <= 100)
        }
    }

    @Test func aRetryThatIsPostponedIsBroughtForwardWithItsRoom() {
        var window = Self.window()
        let later = 60 * Self.second
        _ = window.withdraw(at: 0, from: later, postponingUntil: .max)
        #expect(window.bringForward(later, at: 0, before: .max) == 0)
        #expect(window.balance(at: 0) == 99)
        #expect(window.balance(at: later) == 100)
    }

    @Test func aRetryThatCannotBeBroughtForwardKeepsItsRoom() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        let later = Self.postponed(&window, at: 0, until: .max, 1)[0]
        #expect(window.bringForward(later, at: 0, before: Self.second) == nil)
        #expect(window.balance(at: later) == 9)
    }

    // MARK: What is kept

    @Test(arguments: [86_400, 365 * 86_400, 9_000_000_000])
    func aRetryThatIsFarAwayTakesOneSlice(seconds: Int64) {
        var window = Self.window()
        let earliest = seconds * Self.second
        #expect(window.withdraw(at: 0, from: earliest, postponingUntil: .max) == .postponed(until: earliest))
        #expect(window.keptCount == 1)
    }

    @Test func slicesThatAreOverAreForgotten() {
        var window = Self.window()
        _ = Self.granted(&window, at: 0)
        _ = Self.postponed(&window, at: 0, until: .max, 1000)
        _ = window.balance(at: 60 * Self.second)
        #expect(window.keptCount == 110 - 51)
        _ = window.balance(at: 1000 * Self.second)
        #expect(window.keptCount == 0)
    }

    @Test func aWindowIsIdleWhenNothingInItCountsAnyMore() {
        var window = Self.window()
        window.countRequest(at: 5 * Self.second)
        #expect(!window.isIdle(at: 14 * Self.second) && window.isIdle(at: 15 * Self.second))
        _ = Self.granted(&window, at: 15 * Self.second)
        _ = Self.postponed(&window, at: 15 * Self.second, until: .max, 20)
        // A window after the last of them it has forgotten them, and another later there is room as at its beginning.
        #expect(!window.isIdle(at: 45 * Self.second) && window.isIdle(at: 46 * Self.second))
    }
}
