import Foundation

extension TransportExpectation {
    /// Sources of request bodies that fail, lie or are slow, and servers that do not read.
    static let uploadSources: [TransportExpectation] = [
        TransportExpectation(
            "An error of a source comes out of the transfer, and the server never gets a whole body", .sourceErrors
        ) {
            trial in
            for length in [nil, 10_000_000] as [Int64?] {
                let thrown = Rejection()
                let source = Source { index in
                    if index == 10 { throw thrown }
                    return Content.pattern(10_000)
                }
                let failure = try await trial.failure(
                    of: .upload(trial.request(method: "POST"), from: .stream(source.stream(length: length))))
                try expectCause(failure, thrown)
                try await trial.expectNoWholeBody()
            }
        },
        TransportExpectation("A source that does not open ends the transfer with its error", .sourceErrors) { trial in
            trial.server.route("/", .text("thanks"))
            let thrown = Rejection()
            let body = RequestBody.stream(BodyStream { throw thrown })
            let failure = try await trial.failure(of: .upload(trial.request(method: "POST"), from: body))
            try expectCause(failure, thrown)
            try await trial.expectNoWholeBody()
        },
        TransportExpectation("A source that gives fewer bytes than it declared fails the transfer", .sizedStreamUploads)
        {
            trial in
            let source = Source(pieces: [Content.pattern(1000)])
            try await trial.expectFailure(
                of: .upload(trial.request(method: "POST"), from: .stream(source.stream(length: 2000))),
                .unencodableBody, in: .request, .connect)
            try await trial.expectNoWholeBody()
        },
        TransportExpectation("A source that gives more bytes than it declared fails the transfer", .sizedStreamUploads)
        {
            trial in
            trial.server.route("/", .text("thanks"))
            let source = Source(pieces: [Content.pattern(1000), Content.pattern(1000)])
            try await trial.expectFailure(
                of: .upload(trial.request(method: "POST"), from: .stream(source.stream(length: 1500))),
                .unencodableBody, in: .request, .connect)
        },
        TransportExpectation("A file that is missing fails the transfer before anything is sent", .fileUploads) {
            trial in
            trial.server.route("/", .text("thanks"))
            let failure = try await trial.expectFailure(
                of: .upload(trial.request(method: "POST"), from: .file(trial.file("missing"))), .unencodableBody,
                in: .connect)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: false)
            _ = try await trial.get("/fence")
            try expect("The requests", trial.server.requests.map(\.path), is: ["/fence"])
        },
        TransportExpectation("An InputStream that cannot be read fails the transfer", .inputStreamUploads) { trial in
            trial.server.route("/", .text("thanks"))
            var request = trial.request(method: "POST")
            request.httpBodyStream = InputStream(url: trial.file("missing"))
            try await trial.expectFailure(of: .data(request), .unencodableBody, in: .request, .connect)
            try await trial.expectNoWholeBody()
        },
        TransportExpectation("An answer before the end of the body is a response", .earlyAnswers) { trial in
            trial.server.route("/", .withoutReadingBody(.status(413, body: Data("too large".utf8))))
            let source = Source(Content.pattern(1 << 16), times: 1024)
            let response = try await trial.send(.stream(source.stream(length: 64 << 20)))
            try expect("The status", response.head.status, is: 413)
            try expect("The body", response.body, is: Data("too large".utf8))
        },
        TransportExpectation(
            "An answer before the end of the body is a response though the server reads no more", .earlyAnswers
        ) {
            trial in
            var answer = LoopbackServer.Response([.head(413, ["Content-Length": "2"]), .bytes(Data("no".utf8)), .stall])
            answer.leavesBodyUnread = true
            trial.server.route("/", answer)
            let source = Source(Content.pattern(1 << 16), times: 1024)
            let response = try await trial.send(.stream(source.stream(length: 64 << 20)))
            try expect("The status", response.head.status, is: 413)
        },
        TransportExpectation("A server that does not read sets the pace of a source", .uploadBackPressure) { trial in
            trial.server.route("/", .withoutReadingBody(.stall))
            let source = Source(Content.pattern(1 << 16), times: 768)
            let transfer = trial.start(
                .upload(trial.request(method: "POST"), from: .stream(source.stream(length: 48 << 20))))
            defer { transfer.cancel() }
            let isExhausted = await source.isExhausted.isOpen(within: .milliseconds(750))
            try expect(!isExhausted, "All 48 MiB were taken from the source though the server reads nothing.")
            try expect(source.readCount > 0, "Nothing was taken from the source.")
            let taken = source.readCount << 16
            try expect(
                taken < 24 << 20, "\(taken >> 20) MiB were taken from the source though the server reads nothing.")
        },
        TransportExpectation("A request is on its way while its source still makes the body", .uploadBackPressure) {
            trial in
            // If its body stays unread, the server knows a request as soon as its head has arrived.
            trial.server.route("/", .withoutReadingBody(.stall))
            let cancelled = Door()
            let source = Source { index in
                guard index > 0 else { return Content.pattern(70_000) }
                await cancelled.pass()
                return nil
            }
            let transfer = trial.start(.upload(trial.request(method: "POST"), from: .stream(source.stream())))
            defer {
                transfer.cancel()
                cancelled.open()
            }
            guard (try? await trial.server.requests(atLeast: 1, timeout: trial.patience)) != nil else {
                throw ConformanceFailure("Nothing had been sent \(trial.patience) after the first piece.")
            }
        },
    ]
}

extension TransportTrial {
    /// Expects that no complete body arrived, and that every connection has ended.
    func expectNoWholeBody() async throws {
        try await closedConnections()
        try expect(!server.requests.contains(where: \.isBodyComplete), "The server took the body for whole.")
    }
}

/// Expects that a failure comes from the error of a source: either directly, or inside an `unencodableBody`.
private func expectCause(_ failure: TransferFailure, _ thrown: Rejection) throws {
    let error = failure.error as? RequestError
    let cause = error?.code == .unencodableBody ? error?.underlying : failure.error
    try expect(cause as? Rejection === thrown, "The cause is \(failure.error), not the source's error.")
}
