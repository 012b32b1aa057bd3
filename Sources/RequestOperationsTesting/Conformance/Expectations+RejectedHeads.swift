import Foundation

extension TransportExpectation {
    /// Responses whose heads `onHead` rejects by throwing.
    static let rejectedHeads: [TransportExpectation] = [
        TransportExpectation(
            "The failure has the very error that onHead threw, the head and the first 4 KiB", .rejectedHeads
        ) {
            trial in
            trial.server.route("/", .status(503, fields: ["Retry-After": "7"], body: Content.pattern(20_000)))
            let thrown = Rejection()
            let failure = try await trial.failure(of: .data(trial.request())) { _ in throw thrown }
            try expect(failure.error as? Rejection === thrown, "The cause is \(failure.error), not onHead's error.")
            try expect("The status", failure.head?.status, is: 503)
            try expect("A field of the head", failure.head?.field("Retry-After"), is: "7")
            try expect("The first bytes of the body", failure.bodyPrefix, is: Content.pattern(4096))
            try expect("The number of bytes that were read", failure.bodySize, is: 20_000)
            try expect("The phase", failure.phase, is: .body)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: true)
        },
        TransportExpectation("A body shorter than 4 KiB is kept whole", .rejectedHeads) { trial in
            trial.server.route("/counted", .status(404, body: Data("no such thing".utf8)))
            trial.server.route("/chunked", .chunked([Data("no such ".utf8), Data("thing".utf8)]))
            for path in ["/counted", "/chunked"] {
                let failure = try await trial.rejection(of: path)
                try expect("The body in the failure", failure.bodyPrefix, is: Data("no such thing".utf8))
            }
        },
        TransportExpectation("The first bytes are those of the decoded body", .decodedErrorBodies) { trial in
            trial.server.route("/", .encoded(Content.gzip, "gzip"))
            let failure = try await trial.rejection()
            try expect("The body in the failure", failure.bodyPrefix, is: Content.text.prefix(4096))
            try expect("The number of decoded bytes", failure.bodySize, is: Int64(Content.text.count))
        },
        TransportExpectation("Nothing of a rejected body reaches the consumer", .rejectedHeads) { trial in
            trial.server.route("/", .status(500, body: Content.pattern(100_000)))
            let pieces = Collector<Void>()
            _ = try await trial.failure(of: .stream(trial.request()) { _ in pieces.append(()) }) { _ in
                throw Rejection()
            }
            try expect("The number of pieces", pieces.count, is: 0)
        },
        TransportExpectation("A rejected head is reported once", .rejectedHeads) { trial in
            trial.server.route("/", .status(500, body: Content.pattern(100_000)))
            let heads = Collector<Void>()
            _ = try await trial.failure(of: .data(trial.request())) { _ in
                heads.append(())
                throw Rejection()
            }
            try expect("The number of reports", heads.count, is: 1)
        },
        TransportExpectation("A connection is kept when the rejected body is small", .keptConnections) { trial in
            trial.server.route(
                "/", .status(503, body: Content.pattern(2000)), .status(503),
                .status(503, body: Content.pattern(30_000)),
                .chunked([Content.pattern(500), Content.pattern(700)]), .text("back"))
            for _ in 1...4 { _ = try await trial.rejection() }
            try expect("The body after them", try await trial.get().body, is: Data("back".utf8))
            try trial.expectOneConnection()
        },
        TransportExpectation(
            "A rejected response without a body ends at once and keeps its connection", .keptConnections
        ) {
            trial in
            trial.server.route("/204", .status(204))
            trial.server.route("/304", .status(304, fields: ["Content-Length": "1000"]))
            let limit = Duration.seconds(20)
            var head = TransportTask.data(trial.request("/204", method: "HEAD"))
            head.limits.errorBodyTimeLimit = limit
            let time = try await duration {
                for path in ["/204", "/304"] { _ = try await trial.rejection(of: path, errorBodyTimeLimit: limit) }
                _ = try await trial.failure(of: head) { _ in throw Rejection() }
            }
            try expect(time < limit, "Three rejections without a body took \(time).")
            try trial.expectOneConnection()
        },
        TransportExpectation("A connection is closed at once when no error body is wanted", .unreadRejections) {
            trial in
            trial.server.respond { _ in .status(503, body: Data("no".utf8)) }
            for _ in 1...5 { _ = try await trial.rejection(errorBodyLimit: 0) }
            let ends = try await trial.closedConnections().map(\.end)
            try expect(!ends.contains(.closedByServer), "A connection ended otherwise than by the client.")
            try expect("The number of connections", trial.server.connections.count, is: 5)
        },
        TransportExpectation("A dripping error body is read no longer than the time limit", .slowRejections) { trial in
            trial.server.route("/", .drip(Data(count: 1000), chunk: 1, every: .milliseconds(20)))
            let time = try await duration { _ = try await trial.rejection() }
            try expect(time < .seconds(12), "The rejection took \(time), not 0.5 s.")
            try await trial.closedConnections()
        },
        TransportExpectation("The time limit of an error body is not rounded up to a second", .slowRejections) {
            trial in
            trial.server.route("/", .stallBody(after: 100, of: 1000))
            try await expectPrecision { _ = try await trial.rejection(errorBodyTimeLimit: $0) }
        },
        TransportExpectation("An error body that stalls does not trip the idle limit", .slowRejections) { trial in
            trial.server.route("/", .stallBody(after: 100, of: 1000))
            try await oneOfFiveTries {
                let failure = try await trial.rejection(errorBodyTimeLimit: .seconds(3), idle: .seconds(2))
                try expect(failure.error is Rejection, "The cause is \(failure.error), not onHead's error.")
                try expect("The first bytes of the body", failure.bodyPrefix, is: Content.pattern(100))
            }
        },
        TransportExpectation("What becomes of the body does not hide the error that onHead threw", .slowRejections) {
            trial in
            trial.server.route("/truncated", .truncated(declared: 2000, sending: 100))
            trial.server.route("/reset", .resetBody(after: 100, of: 2000))
            trial.server.route("/coded", .encoded(Data(repeating: 0x2A, count: 500), "gzip"))
            for path in ["/truncated", "/reset", "/coded"] {
                let failure = try await trial.rejection(of: path)
                try expect(failure.error is Rejection, "The cause at \(path) is \(failure.error), not onHead's error.")
                try expect("The status", failure.head?.status, is: 200)
            }
        },
        TransportExpectation("A rejection during an upload ends the upload", .earlyAnswers) { trial in
            var answer = LoopbackServer.Response([.head(413, ["Content-Length": "2"]), .bytes(Data("no".utf8)), .stall])
            answer.leavesBodyUnread = true
            trial.server.route("/", answer)
            let source = Source(Content.pattern(1 << 16), times: 1024)
            let failure = try await trial.failure(
                of: .upload(trial.request(method: "POST"), from: .stream(source.stream(length: 64 << 20)))
            ) { _ in throw Rejection() }
            try expect(failure.error is Rejection, "The cause is \(failure.error), not onHead's error.")
            try expect("The status", failure.head?.status, is: 413)
        },
    ]
}

extension TransportTrial {
    /// Gets a path with an `onHead` that rejects, and returns the failure.
    func rejection(
        of path: String = "/", errorBodyLimit: Int = 64 << 10, errorBodyTimeLimit: Duration = .milliseconds(500),
        idle: Duration? = .seconds(20)
    ) async throws -> TransferFailure {
        var task = TransportTask.data(request(path))
        task.limits.idle = idle
        task.limits.errorBodyLimit = errorBodyLimit
        task.limits.errorBodyTimeLimit = errorBodyTimeLimit
        return try await failure(of: task) { _ in throw Rejection() }
    }
}
