import Testing

@testable import OfflineRequests

@Suite(.timeLimit(.minutes(10))) struct EventHubTests {
    @Test func `A stream that was full says how many events it missed`() async throws {
        let hub = EventHub(capacity: 3)
        hub.open()
        var iterator = hub.stream().makeAsyncIterator()
        for id in 1...5 { hub.send(.began(OfflineRecord.ID(rawValue: Int64(id)))) }
        for _ in 1...3 { _ = await iterator.next() }
        hub.send(.leaseLost)
        let missed = try #require(await iterator.next())
        #expect({ if case .missed(2) = missed { true } else { false } }())
        let next = try #require(await iterator.next())
        #expect({ if case .leaseLost = next { true } else { false } }())
    }

    /// What is left of a stream, as ids of records that began, and numbers of missed events below zero.
    private func rest(of stream: AsyncStream<OfflineEvent>) async -> [Int64] {
        var rest: [Int64] = []
        for await event in stream {
            switch event {
            case .began(let id): rest.append(id.rawValue)
            case .missed(let count): rest.append(-Int64(count))
            default: Issue.record("\(event)")
            }
        }
        return rest
    }

    @Test func `A full stream that is closed says how many events it missed`() async {
        let hub = EventHub(capacity: 3)
        hub.open()
        let stream = hub.stream()
        for id in 1...5 { hub.send(.began(OfflineRecord.ID(rawValue: Int64(id)))) }
        hub.close()
        #expect(await rest(of: stream) == [1, 2, 3, -2])
    }

    @Test(arguments: [false, true])
    func `A stream begins with the events of the opening in their order and within its bound`(isClosed: Bool) async {
        let hub = EventHub(capacity: 3)
        for id in 1...4 { hub.send(.began(OfflineRecord.ID(rawValue: Int64(id)))) }
        hub.open()
        if isClosed { hub.close() }
        let stream = hub.stream()
        hub.send(.leaseLost)
        hub.close()
        #expect(await rest(of: stream) == [1, 2, 3, isClosed ? -1 : -2])
    }

    @Test func `A stream that is read misses nothing`() async throws {
        let hub = EventHub(capacity: 1)
        hub.open()
        var iterator = hub.stream().makeAsyncIterator()
        for _ in 1...3 {
            hub.send(.leaseLost)
            let event = try #require(await iterator.next())
            #expect({ if case .leaseLost = event { true } else { false } }())
        }
    }

    @Test func `Nobody begins to wait once the queue is closed`() async {
        let waiters = Waiters()
        waiters.close()
        await waiters.wait(for: .drained) {}
    }
}
