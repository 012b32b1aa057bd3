import RequestOperationsTesting
import Testing

@testable import OfflineRequests

@Suite(.timeLimit(.minutes(10))) struct AddingTests {
    @Test func `An added request is delivered`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        let id = try await queue.add(post("a", body: "hello"))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        let task = try #require(fixture.transport.tasks.first)
        #expect(task.request.httpMethod == "POST" && fixture.sent == ["a"])
        guard case .data(let body) = task.body else { return #expect(Bool(false), "no body") }
        #expect(body == Data("hello".utf8))
        await queue.close()
    }

    @Test func `A request is on disk when add returns`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let id = try await queue.add(post("a"))
        let stranger = try await fixture.openStranger()
        stranger.pause()
        #expect(try await stranger.record(id)?.state == .pending)
        await stranger.close()
        await queue.close()
    }

    @Test func `A request that the disk did not take yet is in the queue, and add says so`() async throws {
        let (fixture, isFailing) = (try Fixture(), Locked(false))
        let queue = try await fixture.openStranger {
            $0.startsPaused = true
        } flush: { descriptor in
            guard isFailing.withLock({ $0 }) else { return DiskFlush.flush(descriptor) }
            errno = EIO
            return false
        }
        isFailing.withLock { $0 = true }
        await #expect {
            try await queue.add(post("a"))
        } throws: {
            OfflineQueueError.Code.unflushed ~= $0
        }
        isFailing.withLock { $0 = false }
        #expect(try await queue.counts.pending == 1)
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["a"])
        await queue.close()
    }

    @Test(arguments: [1e25, .infinity, .greatestFiniteMagnitude, .nan])
    func `A date that no calendar has ends no process`(seconds: Double) async throws {
        let fixture = try Fixture()
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let first = try await fixture.open { $0.startsPaused = true }
        let id = try await first.add(post("a"), options: OfflineOptions(lane: "a", expires: date))
        let later = try await first.add(post("b"), options: OfflineOptions(lane: "b", notBefore: date))
        let gone = try await first.add(
            post("c"), options: OfflineOptions(lane: "c", notBefore: Date(timeIntervalSinceReferenceDate: -seconds)))
        await first.close()
        // What was stored does no harm at a later start either.
        let second = try await fixture.open()
        #expect(try await second.outcome(of: id) == .delivered(status: 204))
        #expect(try await second.outcome(of: gone) == .delivered(status: 204))
        if seconds.isNaN {
            #expect(try await second.outcome(of: later) == .delivered(status: 204))
        } else {
            let end = Date(timeIntervalSince1970: 253_402_300_799)
            #expect(try await second.record(later)?.state == .waiting(until: end, .notBefore))
        }
        await second.close()
    }

    @Test(arguments: [1e25, -1e25, .infinity, -.infinity, .nan])
    func `A calendar that tells no real date ends no process`(seconds: Double) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { configuration in
            configuration.date = { Date(timeIntervalSinceReferenceDate: seconds) }
            configuration.bounds = OfflineBounds(age: .seconds(Int64.max))
        }
        let id = try await queue.add(post("a"), options: OfflineOptions(notBefore: Fixture.epoch - 4e9))
        if seconds > 0 || seconds.isNaN { #expect(try await queue.outcome(of: id) == .delivered(status: 204)) }
        await queue.close()
    }

    @Test(arguments: [Duration.seconds(Int64.max) * 18, .zero, .seconds(Int64.min) * 18])
    func `The longest and the shortest durations of a configuration end no process`(duration: Duration) async throws {
        let fixture = try Fixture([.status(503, fields: [("Retry-After", "99999999999")]), .status(204)])
        let queue = try await fixture.open { configuration in
            configuration.leaseDuration = duration
            configuration.maximumRetryAfter = duration
            configuration.handlerTimeLimit = duration
            configuration.outcomeRetention = duration
            configuration.bounds = OfflineBounds(count: .max, bytes: .max, age: duration > .zero ? duration : nil)
        }
        let id = try await queue.add(post("a"), options: OfflineOptions(priority: .max))
        let waits = await queue.event { if case .waits = $0 { true } else { nil } }
        #expect(waits == true)
        #expect(try await queue.record(id)?.attempts == 1)
        await queue.close()
    }

    @Test func `Concurrent adds share commits`() async throws {
        let (fixture, gate) = (try Fixture(), DispatchSemaphore(value: 0))
        let (holds, isHeld) = (Locked(false), Locked(false))
        let queue = try await fixture.openStranger {
            $0.startsPaused = true
        } flush: { descriptor in
            if holds.withLock({ $0 }) {
                isHeld.withLock { $0 = true }
                gate.wait()
                gate.signal()
            }
            return DiskFlush.flush(descriptor)
        }
        let store = try #require(queue.store as? SQLiteStore)
        holds.withLock { $0 = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { _ = try await queue.add(post("0")) }
            while !isHeld.withLock({ $0 }) { await Task.yield() }
            for number in 1..<200 { group.addTask { _ = try await queue.add(post("\(number)")) } }
            while store.writer.waitingCount < 199 { await Task.yield() }
            gate.signal()
            try await group.waitForAll()
        }
        let mark = try #require(try CommitMark(fixture.files().mark.path).reading)
        #expect(try await queue.counts.pending == 200)
        #expect(mark.commits == 2 && mark.lastID == 200)
        await queue.close()
    }

    @Test func `What is added later does not overtake a long body, whichever call adds it`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let long = fixture.directory.appendingPathComponent("long")
        try Data(count: 8 << 20).write(to: long)
        let large = post("1", body: String(repeating: "a", count: 300 << 10))
        let calls: [@MainActor () async throws -> Void] = [
            { _ = try await queue.add(post("0"), bodyFile: long) },
            { _ = try await queue.add(contentsOf: [(large, OfflineOptions()), (post("2"), OfflineOptions())]) },
            { _ = try await queue.add(post("3")) },
        ]
        let tasks = await MainActor.run { calls.map { call in Task { @MainActor in try await call() } } }
        for task in tasks { try await task.value }
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["0", "1", "2", "3"])
        await queue.close()
    }

    @Test func `A long body holds up no other lane`() async throws {
        let order = AddingOrder()
        let (isWritten, write) = AsyncStream<Void>.makeStream()
        let entered = Locked<[String]>([])
        let slow = Task {
            try await order.take([.lane("a"), .key("k")]) { place in
                for await _ in isWritten {}
                await place.turn()
                entered.withLock { $0.append("slow") }
            }
        }
        // Once it has its place.
        while order.isFree([.lane("a")]) { await Task.yield() }
        let behind = Task {
            try await order.take([.lane("b"), .key("k")]) { place in
                await place.turn()
                entered.withLock { $0.append("behind") }
            }
        }
        try await order.take([.lane("c")]) { place in
            await place.turn()
            entered.withLock { $0.append("other") }
        }
        write.finish()
        try await slow.value
        try await behind.value
        #expect(entered.withLock { $0 } == ["other", "slow", "behind"])
        #expect(order.isFree([.lane("a"), .lane("b"), .lane("c"), .key("k")]))
    }

    @Test func `One that fails lets nobody overtake those before it`() async throws {
        struct Refusal: Error {}
        let order = AddingOrder()
        let (isWritten, write) = AsyncStream<Void>.makeStream()
        let entered = Locked<[Int]>([])
        let slow = Task {
            try await order.take([.lane("")]) { place in
                for await _ in isWritten {}
                await place.turn()
                entered.withLock { $0.append(1) }
            }
        }
        while order.isFree([.lane("")]) { await Task.yield() }
        let failing = Task { try await order.take([.lane("")]) { _ in throw Refusal() } }
        for _ in 0..<100 { await Task.yield() }
        let last = Task {
            try await order.take([.lane("")]) { place in
                await place.turn()
                entered.withLock { $0.append(3) }
            }
        }
        for _ in 0..<100 { await Task.yield() }
        write.finish()
        _ = await failing.result
        try await slow.value
        try await last.value
        #expect(entered.withLock { $0 } == [1, 3])
    }

    @Test func `Requests that are added together share one commit, in their order`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        try await queue.add(post("first"))
        let before = try #require(try CommitMark(fixture.files().mark.path).reading).commits
        let ids = try await queue.add(
            contentsOf: (0..<100).map { (post("\($0)"), OfflineOptions(lane: $0.isMultiple(of: 2) ? "even" : nil)) })
        let mark = try #require(try CommitMark(fixture.files().mark.path).reading)
        #expect(mark.commits == before + 1 && mark.lastID == 101)
        #expect(ids.map(\.rawValue) == Array(2...101))
        #expect(try await queue.record(ids[2])?.lane == "even")
        await queue.close()
    }

    @Test func `Of requests that are added together none is added if one is refused`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.bounds = OfflineBounds(count: 2, policy: .rejectNew) }
        queue.pause()
        await #expect(throws: OfflineQueueError.self) {
            try await queue.add(contentsOf: (0..<3).map { (post("\($0)"), OfflineOptions()) })
        }
        #expect(try await queue.counts.pending == 0)
        await queue.close()
    }

    @Test func `Each delivery has the stored idempotency key`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        queue.pause()
        let id = try await queue.add(post("a"))
        let key = try #require(try await queue.record(id)?.idempotencyKey)
        queue.resume()
        _ = try await queue.outcome(of: id)
        let keys = fixture.transport.requests.map { $0.value(forHTTPHeaderField: "Idempotency-Key") }
        #expect(keys == [key, key])
        await queue.close()
    }

    @Test func `An idempotency key of the request is kept`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        var request = post("a")
        request.setValue("\"mine\"", forHTTPHeaderField: "Idempotency-Key")
        _ = try await queue.outcome(of: try await queue.add(request))
        #expect(fixture.transport.requests.first?.value(forHTTPHeaderField: "Idempotency-Key") == "\"mine\"")
        await queue.close()
    }

    @Test func `Credentials are not stored and an event says so`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let events = queue.events
        var request = URLRequest(url: try #require(URL(string: "https://user:pass-word@a.example/a")))
        request.setValue("Bearer abc-secret", forHTTPHeaderField: "Authorization")
        request.setValue("1", forHTTPHeaderField: "X-Other")
        let id = try await queue.add(request)
        let files = try FileManager.default.contentsOfDirectory(at: fixture.directory, includingPropertiesForKeys: nil)
        for file in files where !file.hasDirectoryPath {
            let bytes = try Data(contentsOf: file)
            #expect(bytes.range(of: Data("abc-secret".utf8)) == nil && bytes.range(of: Data("pass-word".utf8)) == nil)
        }
        for await event in events {
            guard case .credentialsOmitted(id, let fields) = event else { continue }
            #expect(fields == ["Authorization", "URL"])
            break
        }
        await queue.close()
    }

    @Test func `Credentials are stored if the options allow it`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        var request = post("a")
        request.setValue("Bearer abc", forHTTPHeaderField: "Authorization")
        var options = OfflineOptions()
        options.storesCredentials = true
        _ = try await queue.outcome(of: try await queue.add(request, options: options))
        #expect(fixture.transport.requests.first?.value(forHTTPHeaderField: "Authorization") == "Bearer abc")
        await queue.close()
    }

    @Test func `An adapter adds credentials when the request is sent`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.request.adapters = [.bearerToken { "fresh" }] }
        _ = try await queue.outcome(of: try await queue.add(post("a")))
        #expect(fixture.transport.requests.first?.value(forHTTPHeaderField: "Authorization") == "Bearer fresh")
        await queue.close()
    }

    @Test(arguments: [10, 1000])
    func `A webhook is signed over its body, in memory or in a file, with the key of its record`(
        inlineLimit: Int
    ) async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let signature = try WebhookSignature(secrets: ["whsec_" + Data(count: 32).base64EncodedString()])
        let queue = try await fixture.open {
            $0.inlineBodyLimit = inlineLimit
            $0.backoff = .constant(.zero)
            $0.request.adapters = [.webhookSignature(signature)]
        }
        queue.pause()
        let id = try await queue.add(post("a", body: "longer than ten bytes"))
        let key = try #require(try await queue.record(id)?.idempotencyKey)
        queue.resume()
        _ = try await queue.outcome(of: id)
        #expect(fixture.transport.requests.count == 2)
        for request in fixture.transport.requests {
            let fields = request.allHTTPHeaderFields ?? [:]
            try signature.verify(Data("longer than ten bytes".utf8), fields: fields)
            #expect(request.value(forHTTPHeaderField: "webhook-id").map { "\"\($0)\"" } == key)
        }
        await queue.close()
    }

    @Test func `A long body goes to a file that is removed after delivery`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.inlineBodyLimit = 10 }
        queue.pause()
        let bodies = try fixture.files().bodies
        let id = try await queue.add(post("a", body: "longer than ten bytes"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: bodies.path).count == 1)
        #expect(try await queue.body(of: id) == Data("longer than ten bytes".utf8))
        queue.resume()
        _ = try await queue.outcome(of: id)
        guard case .file = fixture.transport.tasks.first?.body else { return #expect(Bool(false), "no file") }
        await queue.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: bodies.path).isEmpty)
    }

    @Test func `A body file is copied`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let file = fixture.directory.appendingPathComponent("mine")
        try Data("content".utf8).write(to: file)
        let id = try await queue.add(post("a"), bodyFile: file)
        try FileManager.default.removeItem(at: file)
        #expect(try await queue.body(of: id) == Data("content".utf8))
        await queue.close()
    }

    @Test func `A streamed body is refused`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        var request = post("a")
        request.httpBodyStream = InputStream(data: Data("x".utf8))
        await #expect(throws: OfflineQueueError.self) { try await queue.add(request) }
        await queue.close()
    }

    @Test func `User info is read back`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        var options = OfflineOptions(tag: "t", priority: 3)
        try options.setUserInfo(["a": 1])
        let id = try await queue.add(post("a"), options: options)
        let record = try #require(try await queue.record(id))
        #expect(try record.userInfo(as: [String: Int].self) == ["a": 1])
        #expect(record.tag == "t" && record.priority == 3 && record.lane == nil)
        await queue.close()
    }

    @Test func `Adding to a closed queue fails`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        await queue.close()
        await #expect { try await queue.add(post("a")) } throws: { OfflineQueueError.Code.closed ~= $0 }
    }
}

extension AddingOrder {
    /// Whether nobody has a place in any of the lines.
    fileprivate func isFree(_ lines: Set<Line>) -> Bool {
        last.withLock { last in lines.allSatisfy { last[$0] == nil } }
    }
}
