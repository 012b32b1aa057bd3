import OfflineRequests
import RequestOperationsTesting
import Testing

private struct Favourite: Codable, Sendable, Equatable {
    var id: Int
    var isOn: Bool
}

/// Two Tasks on one actor, which begin in their order.
private actor Caller {
    func add(_ queue: OfflineRequestQueue, _ request: URLRequest, _ unique: UniqueKey<URLRequest>?) async throws {
        try await queue.add(request, unique: unique)
    }

    func addBoth(
        _ queue: OfflineRequestQueue, _ first: URLRequest, _ second: URLRequest, _ unique: UniqueKey<URLRequest>?
    ) async throws {
        let tasks = [first, second].map { request in Task { try await self.add(queue, request, unique) } }
        for task in tasks { try await task.value }
    }
}

@Suite(.timeLimit(.minutes(10))) struct UniqueKeyTests {
    private static let merge = UniqueKey<URLRequest>.Policy.merge { old, new in
        var merged = new
        merged.url?.appendPathComponent(old.url?.lastPathComponent ?? "")
        return merged
    }

    @Test(arguments: [
        ("replace", UniqueKey("k", .replace), ["small"]), ("keep", UniqueKey("k", .keep), ["large"]),
        ("append", UniqueKey("k", .append), ["large", "small"]), ("merge", UniqueKey("k", merge), ["small/large"]),
        ("no key", nil, ["large", "small"]),
    ])
    func `The order of overlapping calls decides, whatever the length of their bodies`(
        _: String, unique: UniqueKey<URLRequest>?, left: [String]
    ) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for _ in 0..<5 {
            let large = post("large", body: String(repeating: "a", count: 300 << 10))
            try await Caller().addBoth(queue, large, post("small"), unique)
            let records = try await queue.records()
            let paths = records.map { record in
                if case .request(let request) = record.content { request.url?.path ?? "" } else { "" }
            }
            #expect(paths == left.map { "/\($0)" })
            try await queue.removeAll()
        }
        await queue.close()
    }

    @Test func `Keep leaves the old record`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let first = try await queue.add(post("old"), unique: UniqueKey("k", .keep))
        let second = try await queue.add(post("new"), unique: UniqueKey("k", .keep))
        #expect(first == second)
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["old"])
        await queue.close()
    }

    @Test func `Replace leaves the new record`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let first = try await queue.add(post("old"), unique: UniqueKey("k", .replace))
        let second = try await queue.add(post("new"), unique: UniqueKey("k", .replace))
        #expect(try await queue.outcome(of: first) == .replaced(by: second))
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["new"])
        await queue.close()
    }

    @Test func `Replace does not touch what is in flight`() async throws {
        let fixture = try Fixture([.stall, .status(204)])
        let queue = try await fixture.open()
        let first = try await queue.add(post("old"), unique: UniqueKey("k", .replace))
        await fixture.transport.requests(atLeast: 1)
        try await queue.add(post("new"), unique: UniqueKey("k", .replace))
        #expect(try await queue.record(first)?.state == .inFlight)
        #expect(try await queue.counts.undelivered == 2)
        await queue.close(finishing: false)
    }

    @Test func `Append adds beside`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for name in ["a", "b"] { try await queue.add(post(name), unique: UniqueKey("k", .append)) }
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["a", "b"])
        await queue.close()
    }

    @Test func `Merge makes one of both`() async throws {
        let fixture = try Fixture()
        let handled = Locked<[Favourite]>([])
        let queue = try await fixture.open()
        queue.register(Favourite.self, name: "favourite") { message in handled.withLock { $0.append(message) } }
        queue.pause()
        let key = UniqueKey<Favourite>("7", .merge { old, new in Favourite(id: old.id, isOn: new.isOn) })
        let first = try await queue.add(Favourite(id: 7, isOn: true), unique: key)
        let keyBefore = try await queue.record(first)?.idempotencyKey
        let second = try await queue.add(Favourite(id: 8, isOn: false), unique: key)
        #expect(first == second)
        #expect(try await queue.record(first)?.idempotencyKey != keyBefore)
        queue.resume()
        try await queue.drain()
        #expect(handled.withLock { $0 } == [Favourite(id: 7, isOn: false)])
        await queue.close()
    }

    @Test(arguments: [nil, "key"], [0, 1 << 20])
    func `Concurrent merges lose nothing`(idempotencyKey: String?, inlineBodyLimit: Int) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.inlineBodyLimit = inlineBodyLimit }
        queue.pause()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    var request = post("a", body: "\(number) ")
                    request.setValue(idempotencyKey, forHTTPHeaderField: "Idempotency-Key")
                    try await queue.add(
                        request,
                        unique: UniqueKey(
                            "k",
                            .merge { old, new in
                                var merged = old
                                merged.httpBody = (old.httpBody ?? Data()) + (new.httpBody ?? Data())
                                return merged
                            }))
                }
            }
            try await group.waitForAll()
        }
        let records = try await queue.records()
        #expect(records.count == 1)
        let body = String(decoding: try #require(try await queue.body(of: records[0].id)), as: UTF8.self)
        #expect(Set(body.split(separator: " ")).count == 40)
        await queue.close()
    }

    @Test func `A merge without an unmet constraint frees the record`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        var options = OfflineOptions()
        options.constraints.insert(OfflineConstraint("never"))
        let key = UniqueKey<URLRequest>("k", .merge { $1 })
        let id = try await queue.add(post("old"), options: options, unique: key)
        while try await queue.record(id)?.state != .waiting(until: nil, .constraint) { await Task.yield() }
        #expect(try await queue.add(post("new"), unique: key) == id)
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        #expect(fixture.sent == ["new"])
        await queue.close()
    }

    @Test func `Favourite then unfavourite leaves the last`() async throws {
        let fixture = try Fixture([.status(204)], .unreachable)
        let queue = try await fixture.open()
        queue.register(Favourite.self, name: "favourite") { message in post(message.isOn ? "on" : "off") }
        for isOn in [true, false] { try await queue.add(Favourite(id: 7, isOn: isOn), unique: UniqueKey("7")) }
        fixture.path.update(.reachable(.wifi))
        try await queue.drain()
        #expect(fixture.sent == ["off"])
        await queue.close()
    }
}
