import Testing

@testable import OfflineRequests

@Suite struct EventHubTests {
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
}
