import Foundation

extension TransportExpectation {
    /// Request bodies and how they are framed.
    static let uploads: [TransportExpectation] = [
        TransportExpectation("A body in memory is sent byte for byte with its length", .uploads) { trial in
            trial.server.route("/", .text("thanks"))
            let response = try await trial.send(.data(Content.pattern(3_000_017)))
            try expect("The answer", response.body, is: Data("thanks".utf8))
            try trial.expectUpload(of: Content.pattern(3_000_017), framedBy: .length)
        },
        TransportExpectation("A file is sent byte for byte with its length", .fileUploads) { trial in
            trial.server.route("/", .text("thanks"))
            try Content.pattern(8_000_003).write(to: trial.file())
            _ = try await trial.send(.file(trial.file()))
            try trial.expectUpload(of: Content.pattern(8_000_003), framedBy: .length)
        },
        TransportExpectation("An empty file is sent as an empty body", .fileUploads) { trial in
            trial.server.route("/", .text("thanks"))
            try Data().write(to: trial.file())
            _ = try await trial.send(.file(trial.file()))
            try trial.expectUpload(of: Data(), framedBy: .length)
        },
        TransportExpectation("A stream of known length is sent with it", .sizedStreamUploads) { trial in
            trial.server.route("/", .text("thanks"))
            let source = Source(pieces: [1, 0, 70_000, 500_000].map(Content.pattern))
            _ = try await trial.send(.stream(source.stream(length: 570_001)))
            try trial.expectUpload(of: source.content, framedBy: .length)
            try expect("How often the source was opened", source.openCount, is: 1)
        },
        TransportExpectation("A stream of unknown length is sent in chunks", .chunkedUploads) { trial in
            trial.server.route("/", .text("thanks"))
            let source = Source(pieces: [1, 0, 70_000, 500_000].map(Content.pattern))
            _ = try await trial.send(.stream(source.stream()))
            try trial.expectUpload(of: source.content, framedBy: .chunks)
            try expect("How often the source was opened", source.openCount, is: 1)
        },
        TransportExpectation("A stream without a byte is sent as an empty body", .chunkedUploads) { trial in
            trial.server.route("/", .text("thanks"))
            _ = try await trial.send(.stream(Source(pieces: []).stream()))
            let sent = try trial.onlyRequest
            try expect("The number of bytes sent", sent.bodyByteCount, is: 0)
            try expect(sent.isBodyComplete, "The body came without its end.")
        },
        TransportExpectation("An InputStream is sent in chunks", .inputStreamUploads) { trial in
            trial.server.route("/", .text("thanks"))
            var request = trial.request(method: "POST")
            request.httpBodyStream = InputStream(data: Content.pattern(300_000))
            _ = try await trial.perform(.data(request))
            try trial.expectUpload(of: Content.pattern(300_000), framedBy: .chunks)
        },
        TransportExpectation("An empty body has the length 0", .uploads) { trial in
            trial.server.route("/", .text("thanks"))
            _ = try await trial.send(.data(Data()))
            try trial.expectUpload(of: Data(), framedBy: .length)
        },
        TransportExpectation("A POST without a body has none, and says so if it says anything", .uploads) { trial in
            trial.server.route("/", .text("thanks"))
            _ = try await trial.send(.none)
            let sent = try trial.onlyRequest
            try expect("The method", sent.method, is: "POST")
            try expect("The number of bytes sent", sent.bodyByteCount, is: 0)
            try expect("Transfer-Encoding", sent.fields.values(of: "Transfer-Encoding"), is: [])
            let lengths = sent.fields.values(of: "Content-Length")
            try expect(lengths == [] || lengths == ["0"], "Content-Length is \(lengths).")
        },
        TransportExpectation("Every method can have a body", .uploads) { trial in
            trial.server.respond { _ in .text("thanks") }
            for method in ["PUT", "PATCH", "DELETE", "QUERY", "PURGE"] {
                _ = try await trial.send(.data(Data("body".utf8)), to: "/\(method)", method: method)
            }
            try expect(
                "The methods", trial.server.requests.map(\.method), is: ["PUT", "PATCH", "DELETE", "QUERY", "PURGE"])
            try expect(
                "The bodies", Set(trial.server.requests.map(\.body)), is: [Data("body".utf8)])
        },
        TransportExpectation("GET can have a body", .bodyOfGET) { trial in
            trial.server.route("/", .text("thanks"))
            _ = try await trial.send(.data(Data("body".utf8)), method: "GET")
            let sent = try trial.onlyRequest
            try expect("The method", sent.method, is: "GET")
            try expect("The body", sent.body, is: Data("body".utf8))
        },
        TransportExpectation("The body of the task is sent, not that of its request", .uploads) { trial in
            trial.server.respond { _ in .text("thanks") }
            let request = trial.request(method: "POST", body: Data("request's".utf8))
            _ = try await trial.perform(TransportTask(request, body: .data(Data("task's".utf8))))
            _ = try await trial.perform(TransportTask(request, body: RequestBody.none))
            try expect("The bodies", trial.server.requests.map(\.body), is: [Data("task's".utf8), Data()])
        },
        TransportExpectation("A Content-Length of the user's is not sent beside the right one", .uploads) { trial in
            trial.server.respond { _ in .text("thanks") }
            for length in ["4", "3", "5"] {
                let task = TransportTask.upload(
                    trial.request(method: "POST", fields: [("Content-Length", length)]), from: .data(Data("body".utf8)))
                _ = try await trial.perform(task)
            }
            for sent in trial.server.requests {
                try expect("Content-Length", sent.fields.values(of: "Content-Length"), is: ["4"])
                try expect("The body", sent.body, is: Data("body".utf8))
            }
            try expect("The number of requests", trial.server.requests.count, is: 3)
        },
        TransportExpectation("A Content-Length of the user's is not sent beside chunks", .chunkedUploads) { trial in
            trial.server.route("/", .text("thanks"))
            let source = Source(pieces: [Data("body".utf8)])
            _ = try await trial.send(.stream(source.stream()), fields: [("Content-Length", "4")])
            let sent = try trial.onlyRequest
            try expect("The body", sent.body, is: Data("body".utf8))
            let codings = sent.fields.values(of: "Transfer-Encoding")
            let lengths = sent.fields.values(of: "Content-Length")
            try expect(codings.count + lengths.count == 1, "The body is framed by \(codings) and \(lengths).")
        },
        TransportExpectation("A Transfer-Encoding of the user's is not sent beside a length", .uploads) { trial in
            trial.server.route("/", .text("thanks"))
            _ = try await trial.send(.data(Data("body".utf8)), fields: [("Transfer-Encoding", "chunked")])
            let sent = try trial.onlyRequest
            try expect("The body", sent.body, is: Data("body".utf8))
            let codings = sent.fields.values(of: "Transfer-Encoding")
            let lengths = sent.fields.values(of: "Content-Length")
            try expect(codings.count + lengths.count == 1, "The body is framed by \(codings) and \(lengths).")
        },
        TransportExpectation(
            "A body has the Content-Type that the user gave, and none if he gave none", .givenContentType
        ) {
            trial in
            trial.server.respond { _ in .text("thanks") }
            _ = try await trial.send(.data(Data("a=b".utf8)), fields: [("Content-Type", "text/x-own")])
            _ = try await trial.send(.data(Data("a=b".utf8)))
            let types = trial.server.requests.map { $0.fields.values(of: "Content-Type") }
            try expect("The content types", types, is: [["text/x-own"], []])
        },
        TransportExpectation("A body waits for 100 Continue when the user asks for it", .expectContinue) { trial in
            trial.server.route("/", .text("thanks"))
            let response = try await trial.send(.data(Content.pattern(100_000)), fields: [("Expect", "100-continue")])
            try expect("The status", response.head.status, is: 200)
            try expect("Expect", try trial.onlyRequest.fields.values(of: "Expect"), is: ["100-continue"])
            try trial.expectUpload(of: Content.pattern(100_000), framedBy: .length)
        },
        TransportExpectation("A body that the server does not want is not sent", .expectContinue) { trial in
            trial.server.route("/", .rejectingExpectation())
            let response = try await trial.send(.data(Content.pattern(100_000)), fields: [("Expect", "100-continue")])
            try expect("The status", response.head.status, is: 417)
            let received = try await trial.closedConnections().map(\.bytesReceived).reduce(0, +)
            try expect(received < 50_000, "\(received) bytes were sent.")
        },
    ]
}

extension TransportTrial {
    /// How the end of a request's body is found.
    enum Framing {
        case length
        case chunks
    }

    /// The request that the server got. Throws if the server got none or more than one.
    var onlyRequest: LoopbackServer.Request {
        get throws {
            let requests = server.requests
            try expect("The number of requests", requests.count, is: 1)
            return requests[0]
        }
    }

    /// Expects that the server got one request, with this body.
    func expectUpload(of body: Data, framedBy framing: Framing) throws {
        let sent = try onlyRequest
        try expect("The number of bytes sent", sent.bodyByteCount, is: body.count)
        try expect(sent.bodyChecksum == LoopbackServer.Checksum(body).value, "The body came changed.")
        try expect(sent.isBodyComplete, "The body came without its end.")
        let isCounted = framing == .length
        try expect(
            "Content-Length", sent.fields.values(of: "Content-Length"), is: isCounted ? [String(body.count)] : [])
        try expect(
            "Transfer-Encoding", sent.fields.values(of: "Transfer-Encoding"), is: isCounted ? [] : ["chunked"])
    }
}
