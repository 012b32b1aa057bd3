#if PostgreSQL
    import Foundation
    import OfflineRequests
    import OfflineRequestsPostgreSQL
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    @Suite(.timeLimit(.minutes(5))) struct PostgreSQLQueueTests {
        @Test(arguments: [true, false])
        func `A request is delivered as it was added, and its outcome is kept`(prepares: Bool) async throws {
            let test = TestQueue([.status(503), .status(201)])
            let queue = try await test.open(options: { $0.preparesStatements = prepares })
            var request = try post("a", body: "thé")
            request.setValue("ä \"quoted\"", forHTTPHeaderField: "X-Field")
            let id = try await queue.add(request, options: OfflineOptions(lane: "lane", tag: "tag"))
            #expect(try await queue.outcome(of: id) == .delivered(status: 201))
            #expect(test.sent == ["a", "a"])
            let sent = try #require(test.transport.requests.last)
            #expect(sent.value(forHTTPHeaderField: "X-Field") == "ä \"quoted\"")
            #expect(sent.value(forHTTPHeaderField: "Idempotency-Key") != nil)
            #expect(try await queue.counts == OfflineCounts())
            await queue.close()
        }

        @Test func `Two senders keep the order of each lane and send nothing twice`() async throws {
            let test = TestQueue()
            let queues = [try await test.open(), try await test.open()]
            let (lanes, each) = (10, 20)
            for lane in 0..<lanes {
                try await queues[lane % 2].add(
                    contentsOf: (0..<each).map { number in
                        (try post("\(lane)-\(number)", host: "h\(lane).example"), OfflineOptions(lane: "\(lane)"))
                    })
            }
            try await queues[0].drain()
            #expect(test.sent.count == lanes * each)
            for lane in 0..<lanes {
                #expect(test.sent.filter { $0.hasPrefix("\(lane)-") } == (0..<each).map { "\(lane)-\($0)" })
            }
            for queue in queues { await queue.close() }
        }

        @Test func `A dead letter can be sent again`() async throws {
            let test = TestQueue([.status(400), .status(204)])
            let queue = try await test.open()
            let id = try await queue.add(post("a"))
            guard case .dead(let reason) = try await queue.outcome(of: id) else {
                Issue.record("The request is no dead letter.")
                return
            }
            #expect(reason.kind == .rejected && reason.status == 400)
            #expect(try await queue.retry(id))
            #expect(try await queue.outcome(of: id) == .delivered(status: 204))
            await queue.close()
        }

        @Test func `Records can be listed, looked at and removed`() async throws {
            let test = TestQueue()
            let queue = try await test.open(configuration: { $0.startsPaused = true })
            let ids = try await queue.add(
                contentsOf: (0..<5).map {
                    (try post("p\($0)", body: "body"), OfflineOptions(lane: "\($0 % 2)", tag: "t"))
                })
            #expect(ids == ids.sorted())
            #expect(try await queue.counts.pending == 5)
            #expect(try await queue.counts.bytes == 20)
            let listed = try await queue.records(RecordFilter([.pending], lane: "1", tag: "t"), limit: 10)
            #expect(listed.map(\.id) == [ids[1], ids[3]])
            #expect(try await queue.record(ids[2])?.lane == "0")
            #expect(try await queue.body(of: ids[2]) == Data("body".utf8))
            #expect(try await queue.remove(ids[2]))
            #expect(try await !queue.remove(ids[2]))
            #expect(try await queue.outcome(of: ids[2]) == .removed)
            #expect(try await queue.removeAll(RecordFilter(lane: "1")) == 2)
            let page = try await queue.page(RecordQuery(.all, text: "P4"))
            #expect(page.records.map(\.id) == [ids[4]])
            #expect(page.looked == 2)
            #expect(page.next == nil)
            let overview = try await queue.overview()
            #expect(overview.lanes == [QueueOverview.Group(name: "0", count: 2)])
            #expect(overview.hosts == [QueueOverview.Group(name: "https://a.example", count: 2)])
            await queue.close()
        }

        @Test func `An idle sender sends what another program adds without waiting for its next look`() async throws {
            let test = TestQueue()
            let sender = try await test.open()
            let adder = try await test.open(configuration: { $0.startsPaused = true })
            try await TestServer.waitAsync(
                until: "SELECT count(*) = 1 FROM request_operations.senders WHERE queue = $1 AND is_idle",
                .text(test.name))
            let id = try await adder.add(post("a"))
            #expect(try await sender.outcome(of: id) == .delivered(status: 204))
            await sender.close()
            await adder.close()
        }

        @Test func `A database without the schema is refused with the command that makes it`() async throws {
            let database = try TestServer.makeDatabase()
            let test = TestQueue(address: "dbname=\(database)")
            let error = try await #require(throws: OfflineQueueError.self) {
                _ = try await test.open(options: { $0.migrates = false })
            }
            #expect(error.code == .storeFailed)
            #expect("\(error)".contains("urlrequest queue migrate"))
            await (try test.open()).close()
            await (try test.open(options: { $0.migrates = false })).close()
            try TestServer.connect(test.address).execute(
                "UPDATE request_operations.version SET number = number + 1, oldest = number + 1")
            let newer = try await #require(throws: OfflineQueueError.self) { _ = try await test.open() }
            #expect(newer.code == .newerSchema)
            try TestServer.connect(test.address).execute("UPDATE request_operations.version SET oldest = 1")
            await (try test.open()).close()
        }
    }
#endif
