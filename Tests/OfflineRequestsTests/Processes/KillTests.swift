import OfflineRequests
import RequestOperationsTesting
import Testing

/// Real processes that are killed. 200 rounds of 1,000 requests with `REQUEST_OPERATIONS_STRESS=full`, else 2 of 40.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KillTests {
    private static let rounds = Extent.isFull ? 200 : 2
    private static let requests = Extent.isFull ? 1000 : 40

    @Test func `Nothing acknowledged is lost when the process is killed`() async throws {
        let fixture = try Fixture()
        let server = try await CountingServer.start()
        var acknowledged: Set<String> = []
        for round in 0..<Self.rounds {
            let first = ["both", server.url.absoluteString, "0", "\(Self.requests)", "8", "r\(round)"]
            var arguments = first
            while true {
                let isLast = try await run(arguments, fixture, server, &acknowledged)
                if isLast { break }
                arguments = ["run", server.url.absoluteString]
            }
            let isOver = round + 1 == Self.rounds || round % 10 == 9
            if isOver { try check(server, acknowledged) }
        }
        #expect(acknowledged.count > Self.rounds)
    }

    /// Runs the program and kills it at a random moment. Returns whether it came to its end before.
    private func run(
        _ arguments: [String], _ fixture: Fixture, _ server: CountingServer, _ acknowledged: inout Set<String>
    ) async throws -> Bool {
        // The moment is a number of requests that have arrived, or of lines that were written.
        let isAtArrival = Bool.random()
        let moment = Int.random(in: 1...(Self.requests * 5 / 4))
        let lines = Locked(0)
        let process = try OfflineProcess(fixture.directory, arguments) { _, child in
            let count = lines.withLock { lines in
                lines += 1
                return lines
            }
            if !isAtArrival, count == moment { child.send(SIGKILL) }
        }
        let before = server.arrivals.count
        if isAtArrival { server.onArrival { if $0 - before == moment { process.child.send(SIGKILL) } } }
        let status = await process.status
        server.onArrival(nil)
        let output = await process.lines
        for line in output where line.hasPrefix("acknowledged ") {
            acknowledged.insert(String(line.split(separator: " ")[1]))
        }
        #expect(status == 0 || status == -SIGKILL)
        #expect(!output.contains { $0.hasPrefix("failed") })
        return status == 0
    }

    private func check(_ server: CountingServer, _ acknowledged: Set<String>) throws {
        let effects = server.effects
        let names = effects.map(\.name)
        #expect(acknowledged.isSubset(of: names), "lost: \(acknowledged.subtracting(names))")
        #expect(Set(names).count == names.count, "An effect came twice.")
        var last: [String: Int] = [:]
        for name in names {
            let parts = name.split(separator: "-")
            let (lane, number) = ("\(parts[0])-\(parts[1])", try #require(Int(parts[2])))
            #expect(number > last[lane] ?? -1, "\(name) came after \(last[lane] ?? -1)")
            last[lane] = number
        }
    }

    @Test(.timeLimit(.minutes(5))) func `Another process takes over at once when the sender is killed`() async throws {
        let fixture = try Fixture()
        let server = try await CountingServer.start()
        // A lease that outlasts the test: a successor that waits for its end shows as a time limit that is exceeded.
        let sender = try OfflineProcess(
            fixture.directory, ["both", server.url.absoluteString, "0", "200", "4", "x"], lease: 3600)
        server.onArrival { if $0 == 20 { sender.child.send(SIGKILL) } }
        _ = await sender.status
        server.onArrival(nil)
        let successor = try OfflineProcess(fixture.directory, ["run", server.url.absoluteString], lease: 3600)
        let status = await withTaskCancellationHandler {
            await successor.status
        } onCancel: {
            successor.child.send(SIGKILL)
        }
        #expect(status == 0)
        let acknowledged = await sender.lines.filter { $0.hasPrefix("acknowledged") }.count
        #expect(server.effects.count >= acknowledged)
    }

    // A process that is stopped in a transaction, such as a search or a beat, keeps SQLite's lock. Nobody can take that over,
    // and all others wait in vain. So this stops the sender where it has no lock, and runs where nothing else does.
    @Test(.enabled(if: Extent.isFull)) func `A stopped sender is replaced and sends nothing afterwards`() async throws {
        let fixture = try Fixture()
        let server = try await CountingServer.start()
        let adder = try OfflineProcess(fixture.directory, ["add", server.url.absoluteString, "0", "80", "1", "x"])
        #expect(await adder.status == 0)
        let sender = try OfflineProcess(fixture.directory, ["run", server.url.absoluteString])
        let (database, isStopped) = (try fixture.database("program"), Locked(false))
        let (stops, stop) = AsyncStream<Void>.makeStream()
        server.onArrival { count in
            guard count >= 40, !isStopped.withLock({ $0 }) else { return }
            sender.child.send(SIGSTOP)
            if Fixture.isFree(database) {
                isStopped.withLock { $0 = true }
                stop.finish()
            } else {
                sender.child.send(SIGCONT)
            }
        }
        for await _ in stops {}
        let successor = try OfflineProcess(fixture.directory, ["run", server.url.absoluteString])
        #expect(await successor.status == 0)
        let count = server.arrivals.count
        sender.child.send(SIGCONT)
        #expect(await sender.status == 0)
        #expect(server.arrivals.count == count)
        // Only what was in flight at the stop came twice, with the same key.
        #expect(server.effects.count == 80 && count == 81)
    }

    @Test func `Two processes send each request once`() async throws {
        let fixture = try Fixture()
        let server = try await CountingServer.start()
        let processes = try ["a", "b"].map {
            try OfflineProcess(
                fixture.directory, ["both", server.url.absoluteString, "0", "100", "4", $0])
        }
        for process in processes { #expect(await process.status == 0) }
        #expect(server.arrivals.count == 200 && server.effects.count == 200)
    }
}
