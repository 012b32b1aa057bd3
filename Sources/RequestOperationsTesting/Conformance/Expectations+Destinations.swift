import Foundation

extension TransportExpectation {
    /// Bodies that go to a file.
    static let files: [TransportExpectation] = [
        TransportExpectation("An accepted body is written to its file and nowhere else", .fileBodies) { trial in
            trial.server.route("/", .large(byteCount: 1_000_003))
            let response = try await trial.perform(.download(trial.request(), to: trial.file()))
            try expect("The file", response.file, is: trial.file())
            try expect("The body in memory", response.body, is: Data())
            try expect("The size", response.bodySize, is: 1_000_003)
            try expect(
                try Data(contentsOf: trial.file()) == Content.pattern(1_000_003), "The file's content is changed.")
            try expect("The files", try trial.fileNames, is: ["body"])
        },
        TransportExpectation("A file that exists is replaced whole", .fileBodies) { trial in
            try Data(count: 10_000).write(to: trial.file())
            trial.server.route("/", .text("short"))
            _ = try await trial.perform(.download(trial.request(), to: trial.file()))
            try expect("The content", try Data(contentsOf: trial.file()), is: Data("short".utf8))
        },
        TransportExpectation("An empty body makes an empty file", .fileBodies) { trial in
            trial.server.route("/", .status(200))
            let response = try await trial.perform(.download(trial.request(), to: trial.file()))
            try expect("The size", response.bodySize, is: 0)
            try expect("The content", try Data(contentsOf: trial.file()), is: Data())
        },
        TransportExpectation("A decoded body is written to its file", .gzip) { trial in
            trial.server.route("/", .encoded(Content.gzip, "gzip"))
            let response = try await trial.perform(.download(trial.request(), to: trial.file()))
            try expect("The size", response.bodySize, is: Int64(Content.text.count))
            try expect(try Data(contentsOf: trial.file()) == Content.text, "The file's content is changed.")
        },
        TransportExpectation("A file is touched only when the head has been accepted", .fileBodies) { trial in
            try Data("old".utf8).write(to: trial.file("old"))
            trial.server.respond { _ in .text("new") }
            for name in ["new", "old"] {
                let before = Collector<Data?>()
                _ = try await trial.perform(.download(trial.request(), to: trial.file(name))) { _ in
                    // For the first, we expect that the file is missing.
                    before.append(try? Data(contentsOf: trial.file(name)))
                }
                try expect("The content in onHead", before.elements, is: [name == "old" ? Data("old".utf8) : nil])
            }
        },
        TransportExpectation("A rejected response leaves the file as it was", .fileBodies) { trial in
            try Data("old".utf8).write(to: trial.file("old"))
            trial.server.route("/", .status(404, body: Content.pattern(100_000)))
            for name in ["new", "old"] {
                _ = try await trial.failure(of: .download(trial.request(), to: trial.file(name))) { _ in
                    throw Rejection()
                }
            }
            try expect("The files", try trial.fileNames, is: ["old"])
            try expect("The content", try Data(contentsOf: trial.file("old")), is: Data("old".utf8))
        },
        TransportExpectation("A file is removed when the transfer fails", .fileRemoval) { trial in
            trial.server.route("/", .truncated(declared: 200_000, sending: 100_000))
            _ = try await trial.failure(of: .download(trial.request(), to: trial.file()))
            try expect("The files left", try trial.fileNames, is: [])
        },
        TransportExpectation("A file is removed when the transfer is cancelled", .fileRemoval) { trial in
            let gate = LoopbackServer.Gate()
            trial.server.route("/", .pattern(100_000, of: 200_000, restAfter: gate))
            let begun = Door()
            let transfer = trial.start(.download(trial.request(), to: trial.file())) { _ in begun.open() }
            await begun.pass()
            transfer.cancel()
            _ = await transfer.result
            try expect("The files left", try trial.fileNames, is: [])
        },
        TransportExpectation("A folder that is missing is an error of the file", .fileBodies) { trial in
            trial.server.route("/", .text("hello"))
            let file = trial.file("missing").appendingPathComponent("body")
            try await trial.expectFailure(
                of: .download(trial.request(), to: file), .fileFailed, in: .body, .head, .connect)
        },
    ]

    /// Bodies that go to a consumer.
    static let streams: [TransportExpectation] = [
        TransportExpectation("A consumer gets the whole body in order", .streamedBodies) { trial in
            trial.server.route("/", .large(byteCount: 8_000_003))
            let pieces = Collector<Data>()
            let response = try await trial.perform(.stream(trial.request()) { pieces.append($0) })
            try expect("The size", response.bodySize, is: 8_000_003)
            try expect("The body in memory", response.body, is: Data())
            try expect(Content.joined(pieces.elements) == Content.pattern(8_000_003), "The pieces are not the body.")
        },
        TransportExpectation("A consumer gets the decoded body", .gzip) { trial in
            trial.server.route("/", .encoded(Content.gzip, "gzip"))
            let pieces = Collector<Data>()
            _ = try await trial.perform(.stream(trial.request()) { pieces.append($0) })
            try expect(Content.joined(pieces.elements) == Content.text, "The pieces are not the body.")
        },
        TransportExpectation("A consumer gets nothing of an empty body", .streamedBodies) { trial in
            trial.server.route("/", .status(200))
            let pieces = Collector<Data>()
            _ = try await trial.perform(.stream(trial.request()) { pieces.append($0) })
            try expect("The bytes", Content.joined(pieces.elements), is: Data())
        },
        TransportExpectation("A consumer gets a piece as it arrives, not when the body is whole", .promptPieces) {
            trial in
            let gate = LoopbackServer.Gate()
            trial.server.route("/", .pattern(10, of: 20, restAfter: gate))
            let pieces = Collector<Data>()
            let transfer = trial.start(
                .stream(trial.request()) { piece in
                    pieces.append(piece)
                    gate.open()
                })
            defer { transfer.cancel() }
            try await within(.seconds(20)) { _ = try await transfer.value }
            try expect(Content.joined(pieces.elements) == Content.pattern(20), "The pieces are not the body.")
        },
        TransportExpectation("A consumer runs on the Task that called perform, one piece at a time", .callerTask) {
            trial in
            trial.server.route("/", .drip(Content.pattern(50), chunk: 10, every: .milliseconds(5)))
            let caller = TaskIdentity.current
            let callers = Collector<TaskIdentity>()
            let begun = Collector<Void>()
            let ended = Collector<Void>()
            let task = TransportTask.stream(trial.request()) { _ in
                try expect(begun.count == ended.count, "A piece came while the consumer worked on the one before.")
                begun.append(())
                callers.append(.current)
                await Task.yield()
                try await Task.sleep(for: .milliseconds(10))
                ended.append(())
            }
            _ = try await trial.perform(task)
            try expect(callers.elements.allSatisfy { $0 == caller }, "Another Task than the caller's ran the consumer.")
        },
        TransportExpectation("A consumer sets the pace: while it works the server cannot go on", .backPressure) {
            trial in
            trial.server.route("/", .closing(.large(byteCount: 48 << 20)))
            let task = TransportTask.stream(trial.request()) { _ in
                let sent = try await trial.bytesSentAtRest()
                try expect(sent < 24 << 20, "\(sent >> 20) MiB were sent while the consumer was at the first piece.")
                throw Rejection()
            }
            let failure = try await trial.failure(of: task)
            guard failure.error is Rejection else { throw failure.error }
            try await trial.expectGivenUp()
        },
        TransportExpectation("A slow consumer loses nothing", .streamedBodies) { trial in
            trial.server.route("/", .large(byteCount: 6_000_003))
            let sum = Locked(LoopbackServer.Checksum())
            let pieces = Collector<Void>()
            let response = try await trial.perform(
                .stream(trial.request()) { piece in
                    sum.withLock { sum in piece.withUnsafeBytes { sum.update($0) } }
                    if pieces.count(appending: ()) <= 20 { try await Task.sleep(for: .milliseconds(5)) }
                })
            try expect("The size", response.bodySize, is: 6_000_003)
            let expected = LoopbackServer.Checksum(Content.pattern(6_000_003)).value
            try expect(sum.withLock { $0.value } == expected, "The pieces are not the body.")
        },
        TransportExpectation("An error of the consumer ends the transfer and comes out of it", .streamedBodies) {
            trial in
            trial.server.route("/", .large(byteCount: 1 << 20))
            let thrown = Rejection()
            let pieces = Collector<Void>()
            let failure = try await trial.failure(
                of: .stream(trial.request()) { _ in
                    pieces.append(())
                    throw thrown
                })
            try expect(
                failure.error as? Rejection === thrown, "The cause is \(failure.error), not the consumer's error.")
            try expect("The status in the failure", failure.head?.status, is: 200)
            try expect("The phase", failure.phase, is: .body)
            try expect("The number of pieces", pieces.count, is: 1)
        },
    ]
}

extension TransportTrial {
    /// The number of bytes that the server has sent, once no more bytes go out for 750 ms.
    fileprivate func bytesSentAtRest() async throws -> Int {
        var sent = 0
        var looksWithoutMore = 0
        while looksWithoutMore < 15 {
            try await Task.sleep(for: .milliseconds(50))
            let now = server.connections.map(\.bytesSent).reduce(0, +)
            looksWithoutMore = now == sent ? looksWithoutMore + 1 : 0
            sent = now
        }
        return sent
    }
}
