import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct RequestLimiterTests {
    private static func slot(of limiter: RequestLimiter, host: Int = 0) async throws -> HeldSlot {
        try await limiter.heldWhenFree(for: URL(string: "http://h\(host).example/"))
    }

    @Test func `A limiter without bounds admits everybody`() async throws {
        let limiter = RequestLimiter()
        #expect(limiter.total == nil && limiter.perHost == nil)
        var slots: [HeldSlot] = []
        for _ in 0..<1000 { slots.append(try await Self.slot(of: limiter)) }
        #expect(limiter.inFlightCount == 1000)
        for slot in slots { slot.release() }
        #expect(limiter.inFlightCount == 0)
    }

    @Test func `A slot is given back once`() async throws {
        let limiter = RequestLimiter(total: 2)
        let first = try await Self.slot(of: limiter)
        let second = try await Self.slot(of: limiter)
        first.release()
        first.release()
        #expect(limiter.inFlightCount == 1)
        second.release()
    }

    @Test func `A slot that nobody holds is given back`() async throws {
        let limiter = RequestLimiter(total: 1)
        _ = try await Self.slot(of: limiter)
        #expect(limiter.inFlightCount == 0)
    }

    @Test func `A full line rejects with an error of its own`() async throws {
        let limiter = RequestLimiter(total: 1, maximumWaiting: 0)
        let held = try await Self.slot(of: limiter)
        let error = await #expect(throws: RequestError.self) { _ = try await Self.slot(of: limiter) }
        #expect(error?.code == .slotRejected && error?.stage == .slot)
        held.release()
    }

    @Test func `The bound of the line can be changed`() async throws {
        let limiter = RequestLimiter(total: 1)
        #expect(limiter.maximumWaiting == nil)
        let held = try await Self.slot(of: limiter)
        limiter.maximumWaiting = 0
        #expect(limiter.maximumWaiting == 0)
        await #expect(throws: RequestError.self) { _ = try await Self.slot(of: limiter) }
        limiter.maximumWaiting = nil
        let waiting = Task { try await Self.slot(of: limiter) }
        await eventually { limiter.waitingCount == 1 }
        held.release()
        _ = try await waiting.value
    }

    @Test func `Who waits and is cancelled leaves at once and takes no slot`() async throws {
        let limiter = RequestLimiter(total: 1)
        let held = try await Self.slot(of: limiter)
        let waiter = Task { try await Self.slot(of: limiter) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
        #expect(limiter.waitingCount == 0 && limiter.inFlightCount == 1)
        held.release()
        #expect(limiter.inFlightCount == 0)
    }

    @Test(arguments: [false, true])
    func `Who waits is admitted by a raised bound`(ofTheTotal: Bool) async throws {
        let limiter = RequestLimiter(total: ofTheTotal ? 1 : nil, perHost: ofTheTotal ? nil : 1)
        let held = try await Self.slot(of: limiter)
        async let second = Self.slot(of: limiter)
        if ofTheTotal { limiter.total = 2 } else { limiter.perHost = 2 }
        try await second.release()
        held.release()
        #expect(limiter.inFlightCount == 0)
    }

    @Test func `A bound can be taken away`() async throws {
        let limiter = RequestLimiter(total: 1, perHost: 1)
        let held = try await Self.slot(of: limiter)
        limiter.total = nil
        limiter.perHost = nil
        try await Self.slot(of: limiter).release()
        held.release()
    }

    @Test func `No slot is lost and no bound broken by ten thousand random steps`() async {
        let limiter = RequestLimiter(total: 6, perHost: 2)
        let running = Locked<[Int: Int]>([:])
        await withTaskGroup { group in
            for task in 0..<50 {
                group.addTask {
                    for step in 0..<200 {
                        let host = (task + step) % 5
                        let attempt = Task {
                            let slot = try await Self.slot(of: limiter, host: host)
                            let isWithinBounds = running.withLock { running in
                                running[host, default: 0] += 1
                                return running[host, default: 0] <= 2 && running.values.reduce(0, +) <= 6
                            }
                            #expect(isWithinBounds)
                            // Gives others the chance to take a slot beside this one, up to the bounds and beyond.
                            await Task.yield()
                            running.withLock { $0[host, default: 0] -= 1 }
                            slot.release()
                        }
                        if Bool.random() { attempt.cancel() }
                        _ = await attempt.result
                    }
                }
            }
        }
        #expect(limiter.inFlightCount == 0 && limiter.waitingCount == 0)
        #expect(limiter.known.hosts == 0 && limiter.known.entries <= 16)
    }
}
