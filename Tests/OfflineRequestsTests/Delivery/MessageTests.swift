import OfflineRequests
import RequestOperationsTesting
import Testing

private struct Favourite: Codable, Sendable, Equatable {
    var id: Int
    var isOn = true
}

private struct Refusal: Error {}

@Suite(.timeLimit(.minutes(10))) struct MessageTests {
    @Test func `A message becomes a request`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.register(Favourite.self, name: "favourite") { message in
            post("favourites/\(message.id)")
        }
        let id = try await queue.add(Favourite(id: 7))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        #expect(fixture.sent == ["7"])
        #expect(fixture.transport.requests.first?.value(forHTTPHeaderField: "Idempotency-Key") != nil)
        await queue.close()
    }

    @Test func `Returning is delivery`() async throws {
        let fixture = try Fixture()
        let handled = Locked<[Favourite]>([])
        let queue = try await fixture.open()
        queue.register(Favourite.self, name: "favourite") { message in handled.withLock { $0.append(message) } }
        let id = try await queue.add(Favourite(id: 7))
        #expect(try await queue.outcome(of: id) == .delivered(status: nil))
        #expect(handled.withLock { $0 } == [Favourite(id: 7)])
        await queue.close()
    }

    @Test func `An error of a handler is retried`() async throws {
        let fixture = try Fixture()
        let calls = Locked(0)
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        queue.register(Favourite.self, name: "favourite") { _ in
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call < 3 { throw Refusal() }
        }
        let id = try await queue.add(Favourite(id: 7))
        #expect(try await queue.outcome(of: id) == .delivered(status: nil))
        #expect(calls.withLock { $0 } == 3)
        await queue.close()
    }

    @Test func `The classifier can give a message up`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open {
            $0.classifier = OutcomeClassifier { failure, verdict in failure.error is Refusal ? .deadLetter : verdict }
        }
        queue.register(Favourite.self, name: "favourite") { (_: Favourite) -> Void in throw Refusal() }
        let id = try await queue.add(Favourite(id: 7))
        guard case .dead = try await queue.outcome(of: id) else { return #expect(Bool(false), "It is no dead letter.") }
        await queue.close()
    }

    @Test func `A handler that never returns is left behind`() async throws {
        let fixture = try Fixture()
        let calls = Locked(0)
        let stuck = Locked<[CheckedContinuation<Void, Never>]>([])
        let queue = try await fixture.open {
            $0.backoff = .constant(.zero)
            $0.maximumAttempts = 2
        }
        queue.register(Favourite.self, name: "favourite", timeLimit: .seconds(5)) { _ in
            calls.withLock { $0 += 1 }
            // It does not even heed its cancellation.
            await withCheckedContinuation { continuation in stuck.withLock { $0.append(continuation) } }
        }
        let id = try await queue.add(Favourite(id: 7))
        let ended = Locked(false)
        async let outcome = queue.outcome(of: id)
        let watch = Task {
            _ = try await queue.outcome(of: id)
            ended.withLock { $0 = true }
        }
        await fixture.advance(by: .zero, until: { ended.withLock { $0 } })
        guard case .dead = try await outcome else { return #expect(Bool(false), "It is no dead letter.") }
        try await watch.value
        #expect(calls.withLock { $0 } == 2)
        for continuation in stuck.withLock({ $0 }) { continuation.resume() }
        await queue.close()
    }

    @Test func `An object can handle messages`() async throws {
        final class Handler: OfflineMessageHandler<Favourite>, @unchecked Sendable {
            let handled = Locked<[Favourite]>([])
            override func handle(_ message: Favourite) async throws { handled.withLock { $0.append(message) } }
            override func encode(_ message: Favourite) throws -> Data { Data("\(message.id)".utf8) }
            override func decode(_ payload: Data) throws -> Favourite {
                Favourite(id: Int(String(decoding: payload, as: UTF8.self)) ?? 0)
            }
        }
        let fixture = try Fixture()
        let queue = try await fixture.open()
        let handler = Handler(name: "favourite")
        queue.register(handler)
        let id = try await queue.add(Favourite(id: 7))
        _ = try await queue.outcome(of: id)
        #expect(handler.handled.withLock { $0 } == [Favourite(id: 7)])
        await queue.close()
    }

    @Test func `A payload that no longer decodes is a dead letter with its bytes`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        first.pause()
        first.register(Favourite.self, name: "favourite") { (_: Favourite) -> Void in }
        let id = try await first.add(Favourite(id: 7))
        await first.close()
        struct Later: Codable, Sendable { var title: String }
        let second = try await fixture.open()
        second.register(Later.self, name: "favourite") { (_: Later) -> Void in }
        guard case .dead(let reason) = try await second.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .undecodable)
        let payload = try #require(try await second.body(of: id))
        #expect(try JSONDecoder().decode(Favourite.self, from: payload) == Favourite(id: 7))
        await second.close()
    }

    @Test func `A message waits for its handler`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        first.pause()
        first.register(Favourite.self, name: "favourite") { (_: Favourite) -> Void in }
        let id = try await first.add(Favourite(id: 7))
        await first.close()
        let second = try await fixture.open()
        while try await second.record(id)?.state != .waiting(until: nil, .handler) { await Task.yield() }
        second.register(Favourite.self, name: "favourite") { (_: Favourite) -> Void in }
        #expect(try await second.outcome(of: id) == .delivered(status: nil))
        await second.close()
    }

    @Test func `A message without a handler is not added`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        await #expect { try await queue.add(Favourite(id: 7)) } throws: { OfflineQueueError.Code.unregistered ~= $0 }
        await queue.close()
    }
}
