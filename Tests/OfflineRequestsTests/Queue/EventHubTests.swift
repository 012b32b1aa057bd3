import Testing

@testable import OfflineRequests

@Suite struct EventHubTests {
    @Test func `A stream that was full says how many events it missed`() async {
        let hub = EventHub(capacity: 3)
        hub.open()
        var iterator = hub.stream().makeAsyncIterator()
        for id in 1...5 { hub.send(.began(OfflineRecord.ID(rawValue: Int64(id)))) }
        for _ in 1...3 { _ = await iterator.next() }
        hub.send(.leaseLost)
        guard case .missed(2) = await iterator.next() else { return Issue.record("The events are not missed.") }
        guard case .leaseLost = await iterator.next() else { return Issue.record("The next event is not there.") }
    }

    @Test func `A stream that is read misses nothing`() async {
        let hub = EventHub(capacity: 1)
        hub.open()
        var iterator = hub.stream().makeAsyncIterator()
        for _ in 1...3 {
            hub.send(.leaseLost)
            guard case .leaseLost = await iterator.next() else { return Issue.record("An event is not there.") }
        }
    }
}
