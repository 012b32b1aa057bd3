import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite struct WaitingRoomTests {
    private static let second: Int64 = 1_000_000_000

    private let woken = Collector<Int>()

    /// A room in which some wait, of whom each notes its number when it is woken.
    private func room(_ count: Int, due: Int64 = 0) -> WaitingRoom {
        var room = WaitingRoom(firstNumber: 0)
        for number in 0..<count { _ = room.add(waiter(number), due: due, at: 0) }
        return room
    }

    private func waiter(_ number: Int) -> WaitingRoom.Waiter {
        { [woken] release in
            release.finish(nil)
            woken.append(number)
            return true
        }
    }

    /// Tells a room some news, and returns who is woken, in order.
    private func hear(_ news: WaitingRoom.News, _ room: inout WaitingRoom, at now: Int64 = 0) -> [Int] {
        let before = woken.count
        for waiter in room.hear(news, at: now) {
            _ = waiter(Release(of: Origin(nil), after: news.cause, in: HostRegistry()))
        }
        return Array(woken.elements.dropFirst(before))
    }

    // MARK: Successes

    @Test func `Each success wakes two in order`() {
        var room = room(5)
        #expect(hear(.success, &room) == [0, 1])
        #expect(hear(.success, &room) == [2, 3])
        #expect(hear(.success, &room) == [4])
        #expect(hear(.success, &room) == [] && room.count == 0)
    }

    @Test func `Who left is not woken`() {
        var room = room(4)
        for number: UInt64 in [0, 2] { _ = room.remove(number) }
        #expect(hear(.success, &room) == [1, 3])
    }

    @Test func `Who is held is woken only when it is due`() {
        var room = room(1, due: 10)
        _ = room.add(waiter(1), due: 0, at: 0)
        #expect(hear(.success, &room) == [1])
        #expect(hear(.success, &room, at: 9) == [])
        #expect(hear(.success, &room, at: 10) == [0])
    }

    @Test func `Of many that come and go nothing piles up`() {
        var room = room(3)
        for number in 3..<10_000 {
            let id = room.add(waiter(number), due: 0, at: 0)
            _ = room.remove(id)
        }
        #expect(hear(.success, &room) == [0, 1] && room.count == 1)
    }

    @Test func `The success of a released request wakes two more`() {
        var room = room(5)
        _ = hear(.success, &room)
        #expect(hear(.outcome(.succeeded, of: .success), &room) == [2, 3])
    }

    @Test func `A release that says nothing against the host goes to the next`() {
        var room = room(4)
        _ = hear(.success, &room)
        #expect(hear(.outcome(.passesOn, of: .success), &room) == [2])
    }

    // MARK: Doubt

    /// The successes, by number from 1, that release anybody, where each release fails or succeeds.
    private static func releases(of count: Int, fail: (Int) -> Bool = { _ in true }) -> [Int] {
        var doubt = RecoveryDoubt()
        return (1...count).filter { number in
            guard doubt.releases(at: 0) else { return false }
            if fail(number) { doubt.failed(at: 0) } else { doubt.succeeded() }
            return true
        }
    }

    @Test func `Each release that fails doubles the successes until the next`() {
        #expect(Self.releases(of: 240) == [1, 3, 7, 15, 31, 63, 127])
    }

    @Test func `Failures of one round of releases count once`() {
        var doubt = RecoveryDoubt()
        for _ in 1...32 { doubt.failed(at: 0) }
        let releases = [doubt.releases(at: 0), doubt.releases(at: 0)]
        #expect(releases == [false, true])
    }

    @Test func `Where releases succeed every success releases`() {
        #expect(Self.releases(of: 100) { _ in false } == Array(1...100))
    }

    @Test func `Releases that succeed undo those that failed`() {
        // Five fail, and then the host is well.
        #expect(Self.releases(of: 100) { $0 <= 31 } == [1, 3, 7, 15, 31] + Array(63...100))
    }

    @Test func `An hour after the last failure nothing is left of the doubt`() {
        var doubt = RecoveryDoubt()
        for _ in 1...20 { doubt.failed(at: 0) }
        var (before, after) = (doubt, doubt)
        let isReleasedBefore = before.releases(at: HostMemory.sweepInterval - 1)
        let isReleasedAfter = after.releases(at: HostMemory.sweepInterval)
        #expect(!isReleasedBefore && isReleasedAfter)
    }

    @Test func `A host that fails for ever is released by few of its successes`() {
        var doubt = RecoveryDoubt()
        for _ in 1...200 { doubt.failed(at: 0) }
        let isReleased = doubt.releases(at: 1)
        #expect(!isReleased)
    }

    // MARK: Signs

    @Test func `A sign wakes two one after another`() {
        var room = room(5)
        #expect((0..<5).map { _ in hear(.sign(1), &room) } == [[0], [1], [], [], []])
        #expect(hear(.sign(2), &room) == [2])
    }

    @Test func `A late try of a former sign gives the present one no more tries`() {
        var room = room(5)
        _ = hear(.sign(1), &room)
        #expect(hear(.sign(2), &room) == [1] && hear(.sign(1), &room) == [2])
        #expect((1...2).map { hear(.sign($0), &room) } == [[], []])
    }

    @Test func `A try after a sign that fails wakes nobody and costs the successes nothing`() {
        var room = room(5)
        for _ in 1...2 { _ = hear(.sign(1), &room) }
        for _ in 1...2 { #expect(hear(.outcome(.failed, of: .sign), &room) == []) }
        #expect(hear(.sign(1), &room) == [])
        #expect(hear(.success, &room) == [2, 3])
    }

    @Test func `A try after a sign that says nothing goes to the next`() {
        var room = room(3)
        for _ in 1...2 { _ = hear(.sign(1), &room) }
        #expect(hear(.outcome(.passesOn, of: .sign), &room) == [2])
    }

    // MARK: What is kept

    @Test func `A room is idle an hour after the last one came`() {
        var room = room(1)
        #expect(!room.isIdle(at: HostMemory.sweepInterval))
        _ = hear(.success, &room)
        #expect(!room.isIdle(at: HostMemory.sweepInterval - 1) && room.isIdle(at: HostMemory.sweepInterval))
    }
}
