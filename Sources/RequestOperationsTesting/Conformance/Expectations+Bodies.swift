import Foundation

extension TransportExpectation {
    /// Bodies that go to memory, in every framing of HTTP/1.1.
    static let framings: [TransportExpectation] = [
        TransportExpectation("A body of declared length arrives byte for byte", .memoryBodies) { trial in
            trial.server.route("/", .large(byteCount: 3_000_017))
            let response = try await trial.get()
            try expect("The size", response.bodySize, is: 3_000_017)
            try expect("The file", response.file, is: nil)
            try expect(response.body == Content.pattern(3_000_017), "The body came changed.")
        },
        TransportExpectation("A body of 16 MiB arrives byte for byte", .memoryBodies) { trial in
            trial.server.route("/", .large(byteCount: 16 << 20))
            try expect(try await trial.get().body == Content.pattern(16 << 20), "The body came changed.")
        },
        TransportExpectation("An empty body is a success", .memoryBodies) { trial in
            trial.server.route("/", .status(200))
            let response = try await trial.get()
            try expect("The body", response.body, is: Data())
            try expect("The size", response.bodySize, is: 0)
        },
        TransportExpectation("A chunked body arrives byte for byte", .chunkedBodies) { trial in
            let pieces = [1, 10, 4096, 100_000, 3].map(Content.pattern)
            trial.server.route("/", .chunked(pieces))
            for _ in 1...2 {
                let response = try await trial.get()
                try expect(response.body == Content.joined(pieces), "The body came changed.")
                try expect("The size", response.bodySize, is: Int64(response.body.count))
            }
            try trial.expectOneConnection()
        },
        TransportExpectation("Trailers of a chunked body do no harm", .trailers) { trial in
            let trailers: LoopbackServer.Fields = ["X-Sum": "1", "X-Other": "2"]
            trial.server.route("/", .chunked([Content.pattern(5000)], fields: ["Trailer": "X-Sum"], trailers: trailers))
            for _ in 1...2 { try expect("The body", try await trial.get().body, is: Content.pattern(5000)) }
            try trial.expectOneConnection()
        },
        TransportExpectation("A body that the end of the connection ends arrives byte for byte", .closeDelimitedBodies)
        {
            trial in
            trial.server.route(
                "/1.1",
                LoopbackServer.Response([.verbatim(Data("HTTP/1.1 200 OK\r\n\r\n".utf8)), .pattern(70_000), .close]))
            trial.server.route(
                "/1.0",
                LoopbackServer.Response([.verbatim(Data("HTTP/1.0 200 OK\r\n\r\n".utf8)), .pattern(70_000), .close]))
            for path in ["/1.1", "/1.0"] {
                try expect(try await trial.get(path).body == Content.pattern(70_000), "The body came changed.")
            }
        },
        TransportExpectation("A HEAD request gets a head and no body, whatever the head declares", .bodilessResponses) {
            trial in
            trial.server.route("/", .large(byteCount: 1000))
            let response = try await trial.perform(.data(trial.request(method: "HEAD")))
            try expect("The declared length", response.head.field("Content-Length"), is: "1000")
            try expect("The size", response.bodySize, is: 0)
            try expect("The body after it", try await trial.get().body, is: Content.pattern(1000))
            try trial.expectOneConnection()
        },
        TransportExpectation("204 and 304 have no body", .bodilessResponses) { trial in
            trial.server.route("/204", .status(204))
            trial.server.route("/304", .status(304, fields: ["Content-Length": "1000"]))
            for status in [204, 304] {
                let response = try await trial.get("/\(status)")
                try expect("The status", response.head.status, is: status)
                try expect("The size", response.bodySize, is: 0)
            }
            try expect("The status after them", try await trial.get("/204").head.status, is: 204)
            try trial.expectOneConnection()
        },
    ]

    /// Bodies in a content coding (RFC 9110, section 8.4).
    static let codings: [TransportExpectation] = [
        coding("gzip", Content.gzip, .gzip),
        coding("deflate", Content.deflate, .deflate),
        coding("br", Content.brotli, .brotli),
        coding("zstd", Content.zstd, .zstd),
        TransportExpectation("A body in an unknown coding is delivered as it is", .unknownCodings) { trial in
            trial.server.route("/", .encoded(Data("hello".utf8), "x-rot13"))
            try expect("The body", try await trial.get().body, is: Data("hello".utf8))
        },
        TransportExpectation("A body that is not in its declared coding is undecodableContent", .brokenCodings) {
            trial in
            trial.server.route("/", .encoded(Data(repeating: 0x2A, count: 500), "gzip"))
            let failure = try await trial.expectFailure(of: .data(trial.request()), .undecodableContent, in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
        },
        TransportExpectation("A coded body that breaks off is a truncated body", .truncatedCodings) { trial in
            trial.server.route("/", .encoded(Content.gzip.prefix(60), "gzip"))
            try await trial.expectFailure(of: .data(trial.request()), .truncatedBody, in: .body)
        },
    ]

    private static func coding(
        _ name: String, _ body: Data, _ capability: TransportCapability
    ) -> TransportExpectation {
        TransportExpectation(
            "A body in the coding \(name) is asked for and decoded, its size that of the result", capability
        ) {
            trial in
            trial.server.route("/", .encoded(body, name))
            let response = try await trial.get()
            try expect(response.body == Content.text, "The body was not decoded.")
            try expect("The size", response.bodySize, is: Int64(Content.text.count))
            let accepted = trial.server.requests.first?.field("Accept-Encoding") ?? "nothing"
            try expect(accepted.contains(name), "The request accepts \(accepted).")
        }
    }

    /// `maximumBodySize`. A transport must check it while bytes arrive.
    static let sizeLimits: [TransportExpectation] = [
        TransportExpectation("A declared length beyond the limit ends the transfer, its head is kept", .sizeLimits) {
            trial in
            trial.server.route("/", .large(byteCount: 1 << 20))
            let failure = try await trial.expectFailure(
                of: limited(.data(trial.request()), to: 1000), .bodyTooLarge, in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
        },
        TransportExpectation("A body that outgrows the limit ends the transfer", .sizeLimits) { trial in
            trial.server.route("/", .chunked(Array(repeating: Content.pattern(10_000), count: 50)))
            let failure = try await trial.expectFailure(
                of: limited(.data(trial.request()), to: 100_000), .bodyTooLarge, in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
        },
        TransportExpectation("The limit holds for the decoded body", .decodedSizeLimits) { trial in
            trial.server.route("/", .encoded(Content.gzipBomb, "gzip"))
            try await trial.expectFailure(
                of: limited(.data(trial.request()), to: 256 << 10), .bodyTooLarge, in: .body)
            let whole = try await trial.perform(limited(.data(trial.request()), to: 1 << 20))
            try expect("The size within a limit of 1 MiB", whole.bodySize, is: 1 << 20)
        },
        TransportExpectation(
            "A body as large as the limit is accepted, with and without a declared length", .sizeLimits
        ) {
            trial in
            trial.server.route("/declared", .large(byteCount: 5000))
            trial.server.route("/chunked", .chunked([Content.pattern(5000)]))
            for path in ["/declared", "/chunked"] {
                let task = limited(.data(trial.request(path)), to: 5000)
                try expect("The size", try await trial.perform(task).bodySize, is: 5000)
                try await trial.expectFailure(
                    of: limited(.data(trial.request(path)), to: 4999), .bodyTooLarge, in: .body)
            }
        },
        TransportExpectation("The limit holds for a file, which is removed", .sizeLimits) { trial in
            trial.server.route("/", .chunked([Content.pattern(50_000), Content.pattern(60_000)]))
            try await trial.expectFailure(
                of: limited(.download(trial.request(), to: trial.file()), to: 100_000), .bodyTooLarge, in: .body)
            try expect("The files left", try trial.fileNames, is: [])
        },
        TransportExpectation("A body in memory is bounded at 64 MiB where nothing else was set", .sizeLimits) { trial in
            trial.server.route("/", .large(byteCount: (64 << 20) + 1))
            try await trial.expectFailure(of: .data(trial.request()), .bodyTooLarge, in: .body)
        },
        TransportExpectation("A body that goes to a file has no bound that was not set", .sizeLimits) { trial in
            let length = (64 << 20) + 1
            trial.server.route("/", .large(byteCount: length))
            let response = try await trial.perform(.download(trial.request(), to: trial.file()))
            try expect("The size", response.bodySize, is: Int64(length))
        },
        TransportExpectation("A body that goes to a consumer has no bound that was not set", .sizeLimits) { trial in
            let length = (64 << 20) + 1
            trial.server.route("/", .large(byteCount: length))
            let response = try await trial.perform(.stream(trial.request()) { _ in })
            try expect("The size", response.bodySize, is: Int64(length))
        },
        TransportExpectation("A consumer never gets more than the limit", .sizeLimits) { trial in
            trial.server.route("/", .chunked(Array(repeating: Content.pattern(10_000), count: 50)))
            let sizes = Collector<Int>()
            let task = TransportTask.stream(trial.request()) { sizes.append($0.count) }
            try await trial.expectFailure(of: limited(task, to: 100_000), .bodyTooLarge, in: .body)
            let delivered = sizes.elements.reduce(0, +)
            try expect(delivered <= 100_000, "\(delivered) bytes were delivered.")
        },
    ]

    private static func limited(_ task: TransportTask, to size: Int) -> TransportTask {
        var task = task
        task.limits.maximumBodySize = size
        return task
    }
}
