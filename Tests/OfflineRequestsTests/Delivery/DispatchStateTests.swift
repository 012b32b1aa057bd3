import RequestOperations
import RequestOperationsTesting
import Testing

@testable import OfflineRequests

@Suite(.timeLimit(.minutes(10))) struct DispatchStateTests {
    private static func record(_ id: Int64, host: String? = nil) -> StoredRecord {
        StoredRecord(
            id: OfflineRecord.ID(rawValue: id), state: .inFlight,
            content: StoredContent(
                url: host.flatMap { URL(string: "https://\($0)/") }, constraints: [], idempotencyKey: ""), body: .none,
            lane: "", tag: nil,
            uniqueKey: nil, priority: 0, added: Fixture.epoch, expires: nil, attempts: 0, refusals: 0,
            lastFailure: nil, bodySize: 0, checksum: 0)
    }

    @Test func `The end of a delivery leaves a later one of the same record`() throws {
        var state = DispatchState()
        let numbers = (1...2).compactMap { _ in state.begin([Self.record(1)], under: Lease(fence: 1))?.first }
        let isLast = state.ended(try #require(numbers.first))
        #expect(!isLast && numbers.count == 2 && Array(state.deliveries.keys) == numbers.suffix(1))
    }

    @Test func `A lost lease is told once`() {
        var state = DispatchState()
        _ = state.begin([Self.record(1), Self.record(2)], under: Lease(fence: 3))
        let answers = [3, 3, 2, 4].map { fence in state.lose(Lease(fence: fence)) != nil }
        #expect(answers == [true, false, false, true])
    }

    @Test func `What is claimed while the queue closes does not begin, and its lease is known`() {
        var state = DispatchState()
        _ = state.wantsSearch()
        _ = state.beginClosing(isPatient: true)
        let isQuietBefore = state.isQuiet
        let numbers = state.begin([Self.record(1)], under: Lease(fence: 7))
        _ = state.searchEnded()
        #expect(numbers == nil && !isQuietBefore && state.isQuiet && state.lease == Lease(fence: 7))
    }

    @Test func `A closing queue lets no delivery go to another stage`() throws {
        var state = DispatchState()
        let begun = state.begin([Self.record(1)], under: Lease(fence: 1))
        let number = try #require(begun?.first)
        let isSending = state.enter(.sending, number, perOrigin: 1)
        _ = state.beginClosing(isPatient: true)
        let answers = [DispatchState.Stage.sending, .waiting].map { state.enter($0, number, perOrigin: 1) }
        #expect(isSending && answers == [true, false])
    }

    @Test func `A delivery whose host has no place any more makes no other attempt`() throws {
        var state = DispatchState()
        let begun = state.begin([Self.record(1, host: "a"), Self.record(2, host: "b")], under: Lease(fence: 1))
        let (first, other) = (try #require(begun?.first), try #require(begun?.last))
        for stage in [DispatchState.Stage.sending, .waiting] {
            for number in [first, other] { _ = state.enter(stage, number, perOrigin: 1) }
        }
        _ = state.begin([Self.record(3, host: "a")], under: Lease(fence: 1))
        let answers = [first, other].map { state.enter(.sending, $0, perOrigin: 1) }
        #expect(answers == [false, true])
    }
}

/// What the dispatcher makes of its settings.
@Suite(.timeLimit(.minutes(2))) struct DeliveryRulesTests {
    @Test func `An expiry does not lengthen the deadline of the program`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open {
            $0.request.deadline = .seconds(30)
            $0.startsPaused = true
        }
        let late = try await queue.add(post("a"), options: OfflineOptions(expires: Fixture.epoch + 86_400))
        let soon = try await queue.add(post("a"), options: OfflineOptions(expires: Fixture.epoch + 10))
        var deadlines: [Duration?] = []
        for id in [late, soon] {
            let record = try #require(try await queue.store.record(id))
            deadlines.append(queue.dispatcher.requestConfiguration(for: record).deadline)
        }
        #expect(deadlines == [.seconds(30), .seconds(10)])
        await queue.close()
    }

    @Test func `A failure is told in one line of bounded length`() {
        struct Talkative: Error, CustomStringConvertible {
            let description = "first line\nAuthorization: abc"
        }
        struct Long: Error, CustomStringConvertible {
            let description = String(repeating: "a", count: 5000)
        }
        #expect(DeliveryRules.line(Talkative()) == "first line")
        #expect(DeliveryRules.line(Long()).count == 501)
    }
}
