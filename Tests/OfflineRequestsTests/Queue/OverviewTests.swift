import OfflineRequests
import RequestOperationsTesting
import Testing

/// What a view of a queue shows.
@Suite(.timeLimit(.minutes(5))) struct OverviewTests {
    /// A paused queue with records in two lanes to two hosts, and a message.
    private func queue(_ fixture: Fixture) async throws -> OfflineRequestQueue {
        let queue = try await fixture.open { $0.startsPaused = true }
        for number in 1...6 {
            try await queue.add(
                post("\(number)", host: number % 3 == 0 ? "b.example" : "a.example"),
                options: OfflineOptions(lane: number % 2 == 0 ? "even" : nil, tag: "tag-\(number)"))
        }
        queue.register(Int.self, name: "number") { _ in }
        try await queue.add(7, options: OfflineOptions(lane: "even"))
        return queue
    }

    private func ids(_ query: RecordQuery, _ queue: OfflineRequestQueue) async throws -> [Int64] {
        try await queue.page(query).records.map(\.id.rawValue)
    }

    @Test func `Records are counted by lane and host`() async throws {
        let fixture = try Fixture()
        let queue = try await queue(fixture)
        let overview = try await queue.overview()
        #expect(overview.counts.pending == 7)
        #expect(overview.lanes.map { "\($0.name) \($0.count)" } == [" 3", "even 4"])
        #expect(
            overview.hosts.map { "\($0.name) \($0.count)" } == [" 1", "https://a.example 4", "https://b.example 2"])
        await queue.close()
    }

    @Test func `A list is chosen by state, lane, host and text, newest first`() async throws {
        let fixture = try Fixture()
        let queue = try await queue(fixture)
        #expect(try await ids(RecordQuery(), queue) == [7, 6, 5, 4, 3, 2, 1])
        #expect(try await ids(RecordQuery(RecordFilter([.pending], lane: "even")), queue) == [7, 6, 4, 2])
        #expect(try await ids(RecordQuery(RecordFilter([.waiting, .dead])), queue).isEmpty)
        #expect(try await ids(RecordQuery(RecordFilter([])), queue).isEmpty)
        #expect(try await ids(RecordQuery(host: "https://b.example"), queue) == [6, 3])
        #expect(try await ids(RecordQuery(host: ""), queue) == [7])
        #expect(try await ids(RecordQuery(RecordFilter(lane: ""), host: "https://b.example"), queue) == [3])
        #expect(try await ids(RecordQuery(text: "post HTTPS://B.example/"), queue) == [6, 3])
        #expect(try await ids(RecordQuery(text: "TAG-5"), queue) == [5])
        #expect(try await ids(RecordQuery(text: "message number"), queue) == [7])
        #expect(try await ids(RecordQuery(text: "#5"), queue) == [5])
        #expect(try await ids(RecordQuery(RecordFilter(lane: "even"), text: "#5"), queue).isEmpty)
        try await queue.add(post("8", host: "b.example:8080"))
        #expect(try await ids(RecordQuery(host: "https://b.example:8080"), queue) == [8])
        await queue.close()
    }

    @Test func `Pages follow each other, also if a look ends early`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        for number in 0..<35 {
            try await queue.add(post("\(number)"), options: OfflineOptions(tag: number % 10 == 0 ? "rare" : nil))
        }
        var query = RecordQuery(text: "rare")
        (query.steps, query.limit) = (8, 2)
        var (found, looks): ([Int64], [Int]) = ([], [])
        repeat {
            let page = try await queue.page(query)
            found += page.records.map(\.id.rawValue)
            looks.append(page.looked)
            query.before = page.next
        } while query.before != nil
        #expect(found == [31, 21, 11, 1])
        #expect(looks.allSatisfy { $0 <= 8 } && looks.reduce(0, +) == 35)
        await queue.close()
    }

    @Test func `Credentials are not searched, and other texts are found as they are shown`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open { $0.startsPaused = true }
        var options = OfflineOptions(lane: #"a "quoted\lane"#, tag: "Größe")
        options.storesCredentials = true
        var request = URLRequest(url: try #require(URL(string: "https://u:canary@a.example/p/q?token=canary&n=1")))
        request.setValue("canary", forHTTPHeaderField: "Authorization")
        let id = try await queue.add(request, options: options).rawValue
        for text in ["canary", "Authorization"] { #expect(try await ids(RecordQuery(text: text), queue).isEmpty) }
        let shown = ["token=redacted", "redacted@a.example", "token=red", "q?token=redacted&n", "GET https"]
        for text in shown + ["a.example/p/q", "n=1", #""Quoted\"#, "Größe", "größ", "#1", "1"] {
            #expect(try await ids(RecordQuery(text: text), queue) == [id], "\(text)")
        }
        await queue.close()
    }

    @Test func `Dead letters are found by the reason`() async throws {
        let fixture = try Fixture([.status(404)])
        let queue = try await fixture.open()
        let id = try await queue.add(post("a"))
        guard case .dead(let reason) = try await queue.outcome(of: id) else {
            Issue.record("it is delivered")
            return
        }
        for text in ["rejected", "rejected: ", "\(reason)"] {
            #expect(try await ids(RecordQuery(RecordFilter([.dead]), text: text), queue) == [id.rawValue], "\(text)")
        }
        let dead = RecordFilter([.dead])
        #expect(try await ids(RecordQuery(dead, host: "https://a.example"), queue) == [id.rawValue])
        #expect(try await ids(RecordQuery(dead, host: "https://b.example"), queue).isEmpty)
        await queue.close()
    }

    @Test func `What waits shortly in flight is listed as waiting`() async throws {
        let fixture = try Fixture([.status(503)])
        let queue = try await fixture.open()
        let events = queue.events
        let id = try await queue.add(post("a"))
        var hasWaited = false
        for await case .waits in events {
            hasWaited = true
            break
        }
        #expect(hasWaited)
        #expect(try await ids(RecordQuery(RecordFilter([.waiting])), queue) == [id.rawValue])
        #expect(try await ids(RecordQuery(RecordFilter([.inFlight])), queue).isEmpty)
        await queue.close(finishing: false)
    }

    @Test func `Deliveries of the last hour are known at the first look, and later ones of any process`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        _ = try await queue.outcome(of: try await queue.add(post("a")))
        try await queue.remove(try await queue.add(post("never"), options: OfflineOptions(notBefore: .distantFuture)))
        let stranger = try await fixture.openStranger { $0.startsPaused = true }
        #expect(try await stranger.overview().total(\.delivered) == 1)
        _ = try await queue.outcome(of: try await queue.add(post("b")))
        let overview = try await stranger.overview()
        #expect(overview.minutes.count == QueueOverview.minutesShown)
        #expect(overview.minutes.last?.delivered == 2)
        fixture.clock.advance(by: .seconds(120))
        #expect(try await stranger.overview().minutes.suffix(3).map(\.delivered) == [2, 0, 0])
        fixture.clock.advance(by: .seconds(3600))
        #expect(try await stranger.overview().total(\.delivered) == 0)
        await stranger.close()
        await queue.close()
    }

    @Test func `Failed attempts are counted`() async throws {
        let fixture = try Fixture([.status(503), .status(404)])
        let queue = try await fixture.open {
            $0.backoff = .constant(.zero)
            $0.date = { Date() }
        }
        _ = try await queue.overview()
        _ = try await queue.outcome(of: try await queue.add(post("a")))
        #expect(try await queue.overview().total(\.failed) == 2)
        await queue.close()
    }

    @Test func `A queue that nobody looks at has nothing for it`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        _ = try await queue.outcome(of: try await queue.add(post("a")))
        _ = try await queue.records()
        #expect(try fixture.schema().allSatisfy { !$0.hasPrefix("view_") })
        _ = try await queue.overview()
        #expect(try fixture.schema().count { $0.hasPrefix("view_") } == 6)
        await queue.close()
    }

    @Test func `Each look walks one index and sorts nothing`() async throws {
        let fixture = try Fixture()
        let queue = try await queue(fixture)
        _ = try await queue.overview()
        let kinds = RecordFilter.Kind.allCases.map { RecordQuery(RecordFilter([$0])) }
        let queries =
            kinds + [
                RecordQuery(), RecordQuery(RecordFilter([.pending, .dead], lane: "l"), text: "t"),
                RecordQuery(RecordFilter(tag: "t"), host: "h"), RecordQuery(host: ""),
                RecordQuery(RecordFilter([.dead]), host: "h"),
            ]
        for plan in try fixture.plans(of: queries) {
            #expect(!plan.contains("TEMP B-TREE"), "\(plan)")
            // The table itself is walked by its ids.
            #expect(
                plan.contains("USING INDEX view_") || plan.contains("USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
                "\(plan)")
        }
        // Dead letters are few, and a host may have all records.
        let dead = try fixture.plans(of: [RecordQuery(RecordFilter([.dead], lane: "l"), host: "h")])
        #expect(dead[0].contains("view_state") && !dead[0].contains("view_origin"))
        for plan in try fixture.plansOfGroups() {
            #expect(plan.contains("USING COVERING INDEX view_") && !plan.contains("TEMP B-TREE"), "\(plan)")
        }
        await queue.close()
    }
}
