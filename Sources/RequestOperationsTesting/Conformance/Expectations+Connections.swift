import Foundation

extension TransportExpectation {
    /// How connections are kept, reused and given up.
    static let connections: [TransportExpectation] = [
        TransportExpectation("Twenty requests in a row use one connection", .keptConnections) { trial in
            trial.server.respond { request in .text(request.path) }
            for number in 1...20 {
                try expect("The body", try await trial.get("/\(number)").body, is: Data("/\(number)".utf8))
            }
            try trial.expectOneConnection()
        },
        TransportExpectation("A request with a body leaves its connection usable", .keptConnections) { trial in
            trial.server.respond { _ in .text("thanks") }
            for number in 1...5 { _ = try await trial.send(.data(Content.pattern(number * 10_000))) }
            try trial.expectOneConnection()
        },
        TransportExpectation("Sixty-four requests are in flight at the same time", .parallelTransfers) { trial in
            let gate = LoopbackServer.Gate()
            trial.server.respond { _ in .held(by: gate, then: .text("hello")) }
            let transfers = (1...64).map { trial.start(.data(trial.request("/\($0)"))) }
            let arrived = try? await trial.server.requests(atLeast: 64, timeout: trial.patience)
            gate.open()
            try expect(arrived != nil, "\(trial.server.maximumConcurrentRequests) of 64 requests were in flight.")
            for transfer in transfers { _ = try await transfer.value }
            try expect("The requests at a time", trial.server.maximumConcurrentRequests, is: 64)
        },
        TransportExpectation("Of a hundred requests at the same time each gets its own answer", .parallelTransfers) {
            trial in
            trial.server.respond(mixedAnswer)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 { group.addTask { try await trial.expectMixedAnswer(number) } }
                try await group.waitForAll()
            }
            try expect("The number of requests", trial.server.requests.count, is: 100)
        },
        TransportExpectation("A connection that the server announced to close is not used again", .keptConnections) {
            trial in
            trial.server.respond { _ in .closing(.text("hello")) }
            for _ in 1...3 { _ = try await trial.get() }
            try expect("The number of connections", trial.server.connections.count, is: 3)
        },
        TransportExpectation("A kept connection that the server has closed meanwhile harms nobody", .deadConnections) {
            trial in
            trial.server.respond { _ in
                LoopbackServer.Response([.head(200, ["Content-Length": "2"]), .bytes(Data("ok".utf8)), .close])
            }
            for count in 1...5 {
                try expect("The body", try await trial.get().body, is: Data("ok".utf8))
                try await trial.server.connectionsClosed(atLeast: count)
            }
        },
        TransportExpectation("A GET that a reused connection swallowed is sent once more", .replays) { trial in
            trial.server.route("/", .text("first"), .reset, .text("third"), .closeWithoutAnswer, .text("fifth"))
            try expect("The first body", try await trial.get().body, is: Data("first".utf8))
            try expect("The body after a reset", try await trial.get().body, is: Data("third".utf8))
            try expect("The body after a close", try await trial.get().body, is: Data("fifth".utf8))
            try expect("The number of requests", trial.server.requests.count, is: 5)
        },
        TransportExpectation("A request that was sent once more says so", .replayReports) { trial in
            trial.server.route("/", .text("first"), .closeWithoutAnswer, .text("third"))
            try expect("Whether the first was replayed", try await trial.get().timings?.wasReplayed, is: false)
            try expect("Whether the second was replayed", try await trial.get().timings?.wasReplayed, is: true)
        },
        TransportExpectation("A POST that a reused connection swallowed is never sent twice", .unsafeReplays) { trial in
            trial.server.route("/", .text("first"), .closeWithoutAnswer, .text("third"))
            _ = try await trial.get()
            let task = TransportTask.upload(trial.request(method: "POST"), from: .data(Data("body".utf8)))
            let failure = try await trial.expectFailure(of: task, .connectionLost, in: .head)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: true)
            try expect(failure.connectionWasReused != false, "The connection is told as fresh.")
            // A server cannot act on a head whose body never came, so it does not count as a request. Foundation on
            // Linux may send such a head by itself before its transport notices.
            let whole = trial.server.requests.filter(\.isBodyComplete)
            try expect("The number of whole requests", whole.count, is: 2)
        },
        TransportExpectation("A GET that a fresh connection swallowed is not sent again", .freshReplays) { trial in
            trial.server.respond { _ in .closeWithoutAnswer }
            try await trial.expectFailure(of: .data(trial.request()), .connectionLost, in: .head)
            try expect("The number of requests", trial.server.requests.count, is: 1)
        },
        TransportExpectation("A failed transfer leaves the next one a clean connection", .keptConnections) { trial in
            trial.server.route("/bad", .truncated(declared: 2000, sending: 1000))
            trial.server.route("/good", .text("hello"))
            for _ in 1...3 {
                _ = try await trial.failure(of: .data(trial.request("/bad")))
                try expect("The body", try await trial.get("/good").body, is: Data("hello".utf8))
            }
        },
        TransportExpectation("Bytes beyond the declared length are no part of any response", .excessBytes) { trial in
            let excess = Data("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nforge".utf8)
            trial.server.route("/", .contentLength(declared: 2, body: Data("ok".utf8) + excess))
            trial.server.route("/next", .text("next"))
            try expect("The body", try await trial.get().body, is: Data("ok".utf8))
            try expect("The next body", try await trial.get("/next").body, is: Data("next".utf8))
        },
        TransportExpectation("IPv6 addresses work", .ipv6) { trial in
            let server = try await LoopbackServer.start(includingIPv6: true)
            server.route("/", .text("hello"))
            let url = try unwrap(URL(string: "http://[::1]:\(server.port)/"), "The port makes no URL.")
            let response = try await trial.perform(.data(URLRequest(url: url)))
            try expect("The body", response.body, is: Data("hello".utf8))
            try expect("Host", server.requests.first?.field("Host"), is: "[::1]:\(server.port)")
        },
    ]

    /// The answer to one of a hundred different requests: `/` and its number.
    @Sendable private static func mixedAnswer(_ request: LoopbackServer.Request) -> LoopbackServer.Response {
        let number = Int(request.path.dropFirst()) ?? 0
        let body = Content.pattern(number * 997)
        switch number % 5 {
        case 0: return .body(body)
        case 1: return .chunked([body, Data("\(number)".utf8)])
        case 2: return .delayed(.milliseconds(number), then: .body(body))
        case 3: return .closing(.body(body))
        default: return .status(503, fields: ["X-Number": String(number)], body: request.body)
        }
    }
}

extension TransportTrial {
    fileprivate func expectMixedAnswer(_ number: Int) async throws {
        let body = Content.pattern(number * 997)
        switch number % 5 {
        case 1:
            let response = try await get("/\(number)")
            try expect(response.body == body + Data("\(number)".utf8), "The answer to \(number) came changed.")
        case 4:
            let response = try await send(.data(body), to: "/\(number)")
            try expect("The number of the answer", response.head.field("X-Number"), is: String(number))
            try expect(response.body == body, "The answer to \(number) came changed.")
        default:
            let response = try await get("/\(number)")
            try expect(response.body == body, "The answer to \(number) came changed.")
        }
    }
}
