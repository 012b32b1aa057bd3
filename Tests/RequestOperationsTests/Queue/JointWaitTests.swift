import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct JointWaitTests {
    private static func origin(_ host: Int) -> Origin { Origin(URL(string: "http://h\(host).example/")) }

    private static func position(of limiter: RequestLimiter) -> JointWait.Position {
        JointWait.Position(limiter: limiter, place: limiter.newPlace())
    }

    /// A place of a queue and a slot of a limiter, whose line comes first.
    private static func slots(
        of queue: RequestLimiter, _ limiter: RequestLimiter, host: Int = 0
    ) async throws -> [RequestLimiter.Slot] {
        let origin = origin(host)
        let wait = JointWait(for: origin, of: position(of: queue), and: position(of: limiter), mayBeRejected: true)
        try await wait.outcome()
        return [RequestLimiter.Slot(of: queue, for: origin), RequestLimiter.Slot(of: limiter, for: origin)]
    }

    private static func slot(of limiter: RequestLimiter, host: Int = 0) async throws -> RequestLimiter.Slot {
        try await limiter.slot(for: origin(host), at: limiter.newPlace())
    }

    @Test func `A slot of both is given back to both`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let slot = try await Self.slots(of: one, other)
        #expect(one.inFlightCount == 1 && other.inFlightCount == 1)
        slot.release()
        slot.release()
        #expect(one.inFlightCount == 0 && other.inFlightCount == 0)
    }

    @Test(arguments: [false, true])
    func `Who waits for one holds none of the other`(isFirstFull: Bool) async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let (full, free) = isFirstFull ? (one, other) : (other, one)
        let held = try await Self.slot(of: full)
        let waiter = Task { try await Self.slots(of: one, other) }
        await eventually { full.waitingCount == 1 && free.inFlightCount == 0 }
        try await Self.slot(of: free).release()
        held.release()
        try await waiter.value.release()
        #expect(one.inFlightCount == 0 && other.inFlightCount == 0)
    }

    @Test func `Who is admitted by one only waits for the other`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let heldOne = try await Self.slot(of: one)
        let heldOther = try await Self.slot(of: other)
        let waiter = Task { try await Self.slots(of: one, other) }
        await eventually { other.waitingCount == 1 }
        heldOther.release()
        await eventually { one.waitingCount == 1 && other.inFlightCount == 0 }
        #expect(other.waitingCount == 0)
        heldOne.release()
        try await waiter.value.release()
    }

    @Test func `A full host keeps nobody from another`() async throws {
        let (one, other) = (RequestLimiter(total: 2), RequestLimiter(perHost: 1))
        let held = try await Self.slots(of: one, other, host: 1)
        let waiter = Task { try await Self.slots(of: one, other, host: 1) }
        await eventually { other.waitingCount + one.waitingCount == 1 }
        try await Self.slots(of: one, other, host: 2).release()
        held.release()
        try await waiter.value.release()
    }

    @Test func `Who is cancelled waits no more and holds nothing`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let held = try await Self.slot(of: other)
        let waiter = Task { try await Self.slots(of: one, other) }
        await eventually { other.waitingCount == 1 }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(one.inFlightCount == 0 && other.waitingCount == 0)
        held.release()
        #expect(other.inFlightCount == 0)
    }

    @Test func `A full line rejects and the other slot is given back`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1, maximumWaiting: 0))
        let held = try await Self.slot(of: other)
        let error = await #expect(throws: RequestError.self) { try await Self.slots(of: one, other) }
        #expect(error?.code == .slotRejected && one.inFlightCount == 0)
        held.release()
    }

    @Test func `Who comes again at its place is not rejected and comes first`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1, maximumWaiting: 1))
        let (queue, limiter) = (Self.position(of: one), Self.position(of: other))
        let held = try await Self.slot(of: other)
        let order = Collector<String>()
        let late = Task {
            let slot = try await Self.slot(of: other)
            order.append("late")
            slot.release()
        }
        await eventually { other.waitingCount == 1 }
        let again = Task {
            try await JointWait(for: Self.origin(0), of: queue, and: limiter, mayBeRejected: false).outcome()
            order.append("again")
            [RequestLimiter.Slot(of: one, for: Self.origin(0)), RequestLimiter.Slot(of: other, for: Self.origin(0))]
                .release()
        }
        await eventually { other.waitingCount == 2 }
        held.release()
        try await late.value
        try await again.value
        #expect(order.elements == ["again", "late"])
    }

    /// Holds the thread that admits it.
    private final class SlowWaiter: SlotWaiter {
        let isAdmitted = Door()
        let mayGoOn = DispatchSemaphore(value: 0)

        var reachesUserCode: Bool { true }

        func wasAdmitted() {
            isAdmitted.open()
            mayGoOn.wait()
        }
    }

    @Test func `Who is admitted by a wait and takes long keeps no other wait waiting`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let heldOne = try await Self.slot(of: one)
        let heldOther = try await Self.slot(of: other)
        let waiter = Task { try await Self.slots(of: other, one) }
        await eventually { one.waitingCount == 1 }
        let slow = SlowWaiter()
        let entry = one.enter(nil, at: one.newPlace(), slow)
        #expect(entry == .waits)
        // The wait is admitted by one, finds the other full, and so gives that slot to the slow one.
        heldOne.release()
        await slow.isAdmitted.pass()
        let (third, fourth) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let held = try await Self.slot(of: third)
        let late = Task { try await Self.slots(of: third, fourth) }
        await eventually { third.waitingCount == 1 }
        held.release()
        try await late.value.release()
        slow.mayGoOn.signal()
        RequestLimiter.Slot(of: one, for: nil).release()
        heldOther.release()
        try await waiter.value.release()
    }

    /// Does something when it is admitted, and gives back what it got.
    private final class Trigger: SlotWaiter {
        private let limiter: RequestLimiter
        private let action: @Sendable () -> Void

        init(_ limiter: RequestLimiter, _ action: @escaping @Sendable () -> Void) {
            self.limiter = limiter
            self.action = action
        }

        func wasAdmitted() {
            action()
            RequestLimiter.Slot(of: limiter, for: nil).release()
        }
    }

    /// Does something in a step of a wait for two further limiters, so that nobody else takes a step meanwhile; returns what
    /// ends that wait.
    private static func inAStepOfAnotherWait(
        _ action: @escaping @Sendable () -> Void
    ) async throws -> @Sendable () async throws -> Void {
        let (third, fourth) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let heldFourth = try await slot(of: fourth)
        let heldThird = try await slot(of: third)
        let outsider = Task { try await slots(of: fourth, third).release() }
        await eventually { third.waitingCount == 1 }
        #expect(third.enter(nil, at: third.newPlace(), Trigger(third, action)) == .waits)
        // Whoever takes the step may go on for ever.
        DispatchQueue.global().async { heldThird.release() }
        return {
            heldFourth.release()
            try await outsider.value
        }
    }

    @Test func `Three waits do not pass two slots round among themselves`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let heldOther = try await Self.slot(of: other)
        // One of them waits for one limiter, two for the other.
        let first = Task { try await Self.slots(of: one, other).release() }
        await eventually { other.waitingCount == 1 }
        let heldOne = try await Self.slot(of: one)
        let rest = (0..<2).map { _ in Task { try await Self.slots(of: other, one).release() } }
        await eventually { one.waitingCount == 2 }
        let endOther = try await Self.inAStepOfAnotherWait {
            heldOne.release()
            heldOther.release()
        }
        let areAdmitted = Door()
        Task {
            for waiter in [first] + rest { try await waiter.value }
            areAdmitted.open()
        }
        #expect(await areAdmitted.isOpen(within: .seconds(60)))
        // Were they not, they must not go on for ever.
        for waiter in [first] + rest { waiter.cancel() }
        try await endOther()
        #expect(one.inFlightCount == 0 && other.inFlightCount == 0)
    }

    @Test func `A wait that is cancelled before its step gives back what it has got`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let heldOne = try await Self.slot(of: one)
        let wait = JointWait(
            for: Self.origin(0), of: Self.position(of: one), and: Self.position(of: other), mayBeRejected: true)
        wait.begin()
        // A thread that takes a step for another test may take this one too.
        await eventually { one.waitingCount == 1 }
        let endOther = try await Self.inAStepOfAnotherWait {
            heldOne.release()
            wait.cancel()
        }
        await #expect(throws: CancellationError.self) { try await wait.answer.value }
        #expect(one.inFlightCount == 0 && other.inFlightCount == 0)
        try await endOther()
    }

    @Test func `Who needs both comes before a later one when both are given back together`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let held = try await Self.slots(of: one, other)
        let order = Collector<String>()
        let early = Task {
            let slot = try await Self.slots(of: other, one)
            order.append("both")
            slot.release()
        }
        await eventually { one.waitingCount == 1 }
        let late = Task {
            let slot = try await Self.slot(of: one)
            order.append("one")
            slot.release()
        }
        await eventually { one.waitingCount == 2 }
        held.release()
        try await early.value
        try await late.value
        #expect(order.elements == ["both", "one"])
    }

    @Test func `Ten thousand waiters are admitted without recursion`() async throws {
        let (one, other) = (RequestLimiter(total: 1), RequestLimiter(total: 1))
        let heldOne = try await Self.slot(of: one)
        let heldOther = try await Self.slot(of: other)
        let waiters = (0..<10_000).map { _ in Task { try await Self.slots(of: one, other).release() } }
        await eventually { other.waitingCount == 10_000 }
        heldOne.release()
        heldOther.release()
        for waiter in waiters { try await waiter.value }
        #expect(one.inFlightCount == 0 && other.inFlightCount == 0)
    }

    @Test func `A slot is exchanged for one of another host ahead of all who wait`() async throws {
        let limiter = RequestLimiter(total: 1, perHost: 1)
        let slot = try await Self.slot(of: limiter, host: 1)
        let next = Task { try await Self.slot(of: limiter, host: 1) }
        await eventually { limiter.waitingCount == 1 }
        let exchanged = try #require(slot.exchanged(for: Self.origin(2)))
        #expect(!slot.isHeld && exchanged.isHeld && limiter.waitingCount == 1 && limiter.inFlightCount == 1)
        exchanged.release()
        try await next.value.release()
        #expect(limiter.inFlightCount == 0 && limiter.keptCounts.hosts == 0)
    }

    @Test func `A slot is given back if the other host has none`() async throws {
        let limiter = RequestLimiter(perHost: 1)
        let slots = [try await Self.slot(of: limiter, host: 1), try await Self.slot(of: limiter, host: 2)]
        #expect(slots[0].exchanged(for: Self.origin(2)) == nil && limiter.inFlightCount == 1)
        #expect(slots[0].exchanged(for: Self.origin(3)) == nil && limiter.inFlightCount == 1)
        slots.release()
        #expect(limiter.inFlightCount == 0)
    }

    @Test func `No slot is lost and no bound broken by three thousand random steps`() async {
        let (one, other) = (RequestLimiter(total: 4), RequestLimiter(total: 3, perHost: 1))
        await withTaskGroup { group in
            for task in 0..<50 {
                group.addTask {
                    for step in 0..<60 {
                        let host = (task + step) % 5
                        let attempt = Task {
                            var slots =
                                switch step % 3 {
                                case 0: [try await Self.slot(of: one, host: host)]
                                case 1: [try await Self.slot(of: other, host: host)]
                                default: try await Self.slots(of: one, other, host: host)
                                }
                            #expect(one.inFlightCount <= 4 && other.inFlightCount <= 3)
                            // Gives others the chance to take a slot beside this one, up to the bounds and beyond.
                            await Task.yield()
                            // Some go to another host, which is often full.
                            for hop in 0..<step % 4 {
                                slots = slots.compactMap { $0.exchanged(for: Self.origin((host + hop) % 5)) }
                                await Task.yield()
                            }
                            slots.release()
                        }
                        if Bool.random() { attempt.cancel() }
                        _ = await attempt.result
                    }
                }
            }
        }
        #expect(one.inFlightCount == 0 && one.waitingCount == 0)
        #expect(other.inFlightCount == 0 && other.waitingCount == 0)
        #expect(one.keptCounts.hosts == 0 && other.keptCounts.hosts == 0)
    }
}
