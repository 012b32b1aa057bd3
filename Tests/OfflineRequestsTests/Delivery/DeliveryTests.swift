import RequestOperationsTesting
import Testing

@testable import OfflineRequests

@Suite(.timeLimit(.minutes(10))) struct DeliveryTests {
    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 599])
    func `A passing status is tried again`(status: Int) async throws {
        let fixture = try Fixture([.status(status), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        let id = try await queue.add(post("a"))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        #expect(fixture.sent == ["a", "a"])
        await queue.close()
    }

    @Test(arguments: [400, 401, 403, 404, 409, 410, 422])
    func `Another refusal is a dead letter`(status: Int) async throws {
        let fixture = try Fixture([.status(status)])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        guard case .dead(let reason) = try await queue.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .rejected && reason.status == status)
        #expect(try await queue.counts.dead == 1)
        #expect(try await queue.record(id)?.attempts == 1)
        await queue.close()
    }

    @Test(arguments: [(301, "POST"), (302, "POST"), (303, "POST"), (303, "DELETE")])
    func `A redirect that changes the method is a dead letter`(status: Int, method: String) async throws {
        let fixture = try Fixture([.status(status, fields: [("Location", "/b")]), .status(200)])
        let queue = try await fixture.open()
        var request = post("a")
        request.httpMethod = method
        let id = try await queue.add(request)
        guard case .dead(let reason) = try await queue.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .rejected && reason.status == status)
        #expect(fixture.sent.count == 1)
        await queue.close()
    }

    @Test func `The caller may allow a redirect that changes the method`() async throws {
        let fixture = try Fixture([.status(303, fields: [("Location", "/b")]), .status(200)])
        let queue = try await fixture.open { $0.request.redirects.allowsMethodChange = true }
        let id = try await queue.add(post("a"))
        #expect(try await queue.outcome(of: id) == .delivered(status: 200))
        await queue.close()
    }

    @Test func `A post is tried again after a lost connection`() async throws {
        let fixture = try Fixture([.error(.connectionLost), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        #expect(try await queue.outcome(of: try await queue.add(post("a"))) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `The classifier has the last word`() async throws {
        let fixture = try Fixture([.status(409)])
        let queue = try await fixture.open {
            $0.classifier = OutcomeClassifier { failure, verdict in failure.status == 409 ? .delivered : verdict }
        }
        #expect(try await queue.outcome(of: try await queue.add(post("a"))) == .delivered(status: 409))
        await queue.close()
    }

    @Test func `A lane keeps its order`() async throws {
        let fixture = try Fixture([.status(503), .status(503), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.zero) }
        for number in 0..<5 { try await queue.add(post("\(number)"), options: OfflineOptions(lane: "l")) }
        try await queue.drain()
        #expect(fixture.sent == ["0", "0", "0", "1", "2", "3", "4"])
        await queue.close()
    }

    @Test func `Records without a lane keep their order after a reopening`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        first.pause()
        for number in 0..<5 { try await first.add(post("\(number)")) }
        await first.close()
        let second = try await fixture.open()
        try await second.drain()
        #expect(fixture.sent == ["0", "1", "2", "3", "4"])
        await second.close()
    }

    @Test func `A lane that waits does not block another`() async throws {
        let fixture = try Fixture([
            .dynamic { request in request.url?.lastPathComponent == "slow" ? .stall : .status(204) }
        ])
        let queue = try await fixture.open()
        try await queue.add(post("slow"), options: OfflineOptions(lane: "a"))
        let id = try await queue.add(post("quick"), options: OfflineOptions(lane: "b"))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close(finishing: false)
    }

    @Test func `A host that never answers holds up no other, however many lanes it has`() async throws {
        let fixture = try Fixture([.dynamic { $0.url?.host == "silent.example" ? .stall : .status(204) }])
        let queue = try await fixture.open()
        queue.pause()
        try await queue.add(
            contentsOf: (0..<5000).map { (post("\($0)", host: "silent.example"), OfflineOptions(lane: "\($0)")) })
        let ids = try await queue.add(
            contentsOf: (0..<10).map { (post("\($0)"), OfflineOptions(lane: "other \($0)")) })
        queue.resume()
        for id in ids { #expect(try await queue.outcome(of: id) == .delivered(status: 204)) }
        await queue.close(finishing: false)
    }

    @Test func `The highest priority goes first among lanes`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.width = 1 }
        queue.pause()
        for priority in [1, 3, 2] {
            try await queue.add(post("\(priority)"), options: OfflineOptions(lane: "\(priority)", priority: priority))
        }
        queue.resume()
        try await queue.drain()
        #expect(fixture.sent == ["3", "2", "1"])
        await queue.close()
    }

    @Test func `A record is not sent before its earliest time`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"), options: OfflineOptions(notBefore: Fixture.epoch + 3600))
        let record = try #require(try await queue.record(id))
        #expect(record.state == .waiting(until: Fixture.epoch + 3600, .notBefore))
        await fixture.clock.sleepers(1)
        #expect(fixture.sent.isEmpty)
        async let outcome = queue.outcome(of: id)
        await fixture.clock.sleepers(2)
        await fixture.advance(by: .seconds(3600), until: { fixture.sent == ["a"] })
        #expect(try await outcome == .delivered(status: 204))
        await queue.close()
    }

    @Test func `An expired record is a dead letter and not sent`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        let id = try await queue.add(post("a"), options: OfflineOptions(expires: Fixture.epoch + 10))
        fixture.clock.advance(by: .seconds(11))
        queue.resume()
        guard case .dead(let reason) = try await queue.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .expired && fixture.sent.isEmpty)
        await queue.close()
    }

    @Test func `A long backoff survives a reopening`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let first = try await fixture.open()
        let events = first.events
        let id = try await first.add(post("a"))
        for await case .waits(id, let until, _) in events {
            #expect(until == Fixture.epoch + 10)
            break
        }
        await first.close()
        let second = try await fixture.open()
        let record = try #require(try await second.record(id))
        #expect(record.state == .waiting(until: Fixture.epoch + 10, .backoff) && record.attempts == 1)
        await fixture.clock.sleepers(1)
        #expect(fixture.sent == ["a"])
        await fixture.advance(by: .seconds(10), until: { fixture.sent == ["a", "a"] })
        #expect(try await second.outcome(of: id) == .delivered(status: 204))
        await second.close()
    }

    @Test func `A record in a short backoff is shown as waiting`() async throws {
        let fixture = try Fixture([.status(503), .stall])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(4)) }
        let events = queue.events
        let id = try await queue.add(post("a"))
        for await case .waits(id, _, _) in events { break }
        #expect(try await queue.record(id)?.state == .waiting(until: Fixture.epoch + 4, .backoff))
        #expect(try await queue.records(RecordFilter([.waiting])).map(\.id) == [id])
        #expect(try await queue.records(RecordFilter([.inFlight, .pending])).isEmpty)
        let counts = try await queue.counts
        #expect(counts.waiting == 1 && counts.inFlight == 0 && counts.undelivered == 1)
        await fixture.advance(by: .seconds(4), until: { fixture.sent.count == 2 })
        #expect(try await queue.record(id)?.state == .inFlight)
        #expect(try await queue.records(RecordFilter([.inFlight])).map(\.id) == [id])
        #expect(try await queue.counts.inFlight == 1)
        await queue.close(finishing: false)
    }

    @Test(.timeLimit(.minutes(2)), arguments: [true, false])
    func `A wait that a wrong clock made long ends when the clock is set right`(isReopened: Bool) async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let error = Locked(3600.0)
        let edit: @Sendable (inout OfflineConfiguration) -> Void = { [clock = fixture.clock] configuration in
            configuration.date = { Fixture.epoch + error.withLock { $0 } + clock.now.offset / .seconds(1) }
        }
        var queue = try await fixture.open("test", edit)
        let events = queue.events
        let id = try await queue.add(post("a"))
        for await case .waits(id, let until, _) in events {
            #expect(until == Fixture.epoch + 3610)
            break
        }
        // The queue has seen the wrong time.
        await fixture.clock.sleepers(3)
        if isReopened { await queue.close() }
        error.withLock { $0 = 0 }
        // A minute later, when the wait is shorter than the longest of any record.
        fixture.clock.advance(by: .seconds(60))
        if isReopened { queue = try await fixture.open("test", edit) }
        await fixture.transport.requests(atLeast: 2)
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `What a server asked for has its own bound when the clock is set back`() async throws {
        let fixture = try Fixture([.status(429, fields: [(name: "Retry-After", value: "600")]), .status(204)])
        let error = Locked(3600.0)
        let queue = try await fixture.open { [clock = fixture.clock] configuration in
            configuration.date = { Fixture.epoch + error.withLock { $0 } + clock.now.offset / .seconds(1) }
        }
        let events = queue.events
        let id = try await queue.add(post("a"))
        for await case .waits(id, _, _) in events { break }
        error.withLock { $0 = 0 }
        let longest = queue.dispatcher.rules.longestWaits
        #expect(try await queue.store.endWaits(longerThan: longest) == 0)
        error.withLock { $0 = -86_400 }
        #expect(try await queue.store.endWaits(longerThan: longest) == 1)
        await queue.close(finishing: false)
    }

    @Test func `A short backoff survives that nobody closed the queue`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let first = try await fixture.openStranger { $0.backoff = .constant(.seconds(4)) }
        let events = first.events
        let id = try await first.add(post("a"))
        for await case .waits(id, _, _) in events { break }
        // What a killed process leaves: the lease, and a record in flight whose wait is noted.
        let connection = try SQLiteConnection(fixture.files().database.path)
        let due = try connection.first("SELECT due FROM records") { $0.real(0) }
        #expect(due == Fixture.epoch.timeIntervalSince1970 + 4)
        connection.close()
        await first.close(finishing: false)
        let second = try await fixture.open()
        #expect(try await second.record(id)?.state == .waiting(until: Fixture.epoch + 4, .backoff))
        await second.close()
    }

    @Test func `Retry after is honoured and survives a reopening`() async throws {
        let fixture = try Fixture([.status(429, fields: [(name: "Retry-After", value: "600")]), .status(204)])
        let first = try await fixture.open()
        let events = first.events
        let id = try await first.add(post("a"))
        for await case .waits(id, let until, _) in events {
            #expect(until == Fixture.epoch + 600)
            break
        }
        await first.close()
        let second = try await fixture.open()
        #expect(try await second.record(id)?.state == .waiting(until: Fixture.epoch + 600, .retryAfter))
        await second.close()
    }

    @Test func `An offline queue waits for the network`() async throws {
        let fixture = try Fixture([.status(204)], .unreachable)
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        await fixture.clock.sleepers(1)
        #expect(fixture.sent.isEmpty)
        fixture.path.update(.reachable(.wifi))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `A loopback address needs no network`() async throws {
        let fixture = try Fixture([.status(204)], .unreachable)
        let queue = try await fixture.open()
        let id = try await queue.add(URLRequest(url: try #require(URL(string: "http://127.0.0.1:1/a"))))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `A new network ends the wait after a failure of the network`() async throws {
        let fixture = try Fixture([.error(.notConnected), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(3600)) }
        let events = queue.events
        let id = try await queue.add(post("a"))
        for await case .waits(id, _, _) in events { break }
        fixture.path.update(.unreachable)
        await fixture.path.settle()
        fixture.path.update(.reachable(.wifi))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `A success at the host ends the wait of another lane`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(3600)) }
        let events = queue.events
        let failed = try await queue.add(post("failed"), options: OfflineOptions(lane: "a"))
        for await case .waits(failed, _, _) in events { break }
        try await queue.add(post("fine"), options: OfflineOptions(lane: "b"))
        #expect(try await queue.outcome(of: failed) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `A request outside of the queue ends the wait too`() async throws {
        let fixture = try Fixture([.status(503), .status(204)])
        let queue = try await fixture.open { $0.backoff = .constant(.seconds(3600)) }
        let events = queue.events
        let id = try await queue.add(post("failed"))
        for await case .waits(id, _, _) in events { break }
        _ = queue
        var configuration = queue.configuration.request
        configuration.retryPolicy = .none
        let other = URLRequestOperation(post("other"), configuration: configuration)
        OperationQueue().addOperation(other)
        _ = try await other.value
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `Too many refusals make a dead letter`() async throws {
        let fixture = try Fixture([.status(500)])
        let queue = try await fixture.open {
            $0.backoff = .constant(.zero)
            $0.maximumAttempts = 3
        }
        let id = try await queue.add(post("a"))
        guard case .dead(let reason) = try await queue.outcome(of: id) else {
            return #expect(Bool(false), "It is no dead letter.")
        }
        #expect(reason.kind == .expired && reason.status == 500 && fixture.sent.count == 3)
        #expect(try await queue.record(id)?.attempts == 3)
        await queue.close()
    }

    @Test func `An unmet constraint holds the record back`() async throws {
        let fixture = try Fixture()
        let isCharging = Locked(false)
        let charging = OfflineConstraint("charging")
        let queue = try await fixture.open { $0.conditions = [charging: { isCharging.withLock { $0 } }] }
        var options = OfflineOptions()
        options.constraints.insert(charging)
        let id = try await queue.add(post("a"), options: options)
        while try await queue.record(id)?.state != .waiting(until: nil, .constraint) { await Task.yield() }
        isCharging.withLock { $0 = true }
        await queue.constraintsChanged()
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }

    @Test func `A metered network holds an unmetered record back`() async throws {
        let fixture = try Fixture([.status(204)], .reachable(.cellular))
        let queue = try await fixture.open()
        var options = OfflineOptions()
        options.constraints.insert(.unmetered)
        let id = try await queue.add(post("a"), options: options)
        while try await queue.record(id)?.state != .waiting(until: nil, .constraint) { await Task.yield() }
        fixture.path.update(.reachable(.wifi))
        #expect(try await queue.outcome(of: id) == .delivered(status: 204))
        await queue.close()
    }
}
