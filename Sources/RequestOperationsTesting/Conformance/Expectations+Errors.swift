import Foundation

extension TransportExpectation {
    /// Errors, and the code and phase that each must have.
    static let errors: [TransportExpectation] = [
        TransportExpectation("A refused connection is cannotConnect, and surely nothing was sent", .connectErrors) {
            trial in
            let port = try RefusingPort()
            let failure = try await trial.expectFailure(
                of: .data(URLRequest(url: port.url)), .cannotConnect, in: .connect)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: false)
            try expect("The head", failure.head?.status, is: nil)
        },
        TransportExpectation(
            "A name that does not exist is cannotResolveHost, and surely nothing was sent", .connectErrors
        ) {
            trial in
            let url = try unwrap(URL(string: "http://no-such-host.invalid/"), "The name makes no URL.")
            let failure = try await trial.expectFailure(
                of: .data(URLRequest(url: url)), .cannotResolveHost, in: .connect)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: false)
        },
        TransportExpectation("A reset before the head is connectionLost", .lostConnections) { trial in
            trial.server.route("/", .reset)
            let task = TransportTask.upload(trial.request(method: "POST"), from: .data(Data("body".utf8)))
            let failure = try await trial.expectFailure(of: task, .connectionLost, in: .head)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: true)
            try expect("The head", failure.head?.status, is: nil)
        },
        TransportExpectation("A connection closed without an answer is connectionLost", .lostConnections) { trial in
            trial.server.route("/", .closeWithoutAnswer)
            let task = TransportTask.upload(trial.request(method: "POST"), from: .data(Data("body".utf8)))
            let failure = try await trial.expectFailure(of: task, .connectionLost, in: .head)
            try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: true)
        },
        TransportExpectation("A reset in the body is connectionLost, its head is kept", .lostConnections) { trial in
            trial.server.route("/", .resetBody(after: 1000, of: 2000))
            let failure = try await trial.expectFailure(of: .data(trial.request()), .connectionLost, in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
        },
        TransportExpectation("A body shorter than declared is truncatedBody, its head is kept", .truncatedBodies) {
            trial in
            trial.server.route("/", .truncated(declared: 2000, sending: 1000))
            let failure = try await trial.expectFailure(of: .data(trial.request()), .truncatedBody, in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
        },
        TransportExpectation("A chunked body that breaks off is truncatedBody, its head is kept", .truncatedBodies) {
            trial in
            trial.server.route("/", .truncatedChunked)
            let failure = try await trial.expectFailure(of: .data(trial.request()), .truncatedBody, in: .body)
            try expect("The status in the failure", failure.head?.status, is: 200)
        },
        TransportExpectation("A chunked body without its last chunk is truncatedBody", .truncatedBodies) { trial in
            trial.server.route(
                "/",
                LoopbackServer.Response([
                    .head(200, ["Transfer-Encoding": "chunked"]),
                    .bytes(LoopbackServer.Response.chunk(Data("first".utf8))),
                    .close,
                ]))
            try await trial.expectFailure(of: .data(trial.request()), .truncatedBody, in: .body)
        },
        TransportExpectation("A chunk whose size is no number is an error of the body", .truncatedBodies) { trial in
            trial.server.route(
                "/", .closing(.wire("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", body: "zz\r\nbody\r\n0\r\n\r\n")))
            try await trial.expectFailure(of: .data(trial.request()), .truncatedBody, in: .body)
        },
        TransportExpectation("An answer that is not HTTP is malformedResponse", .malformedHeads) { trial in
            for answer in ["SSH-2.0-OpenSSH_9.2\r\n", "<html>hello</html>\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n"] {
                trial.server.route("/", .closing(.raw(Data(answer.utf8))))
                try await trial.expectFailure(of: .data(trial.request()), .malformedResponse, in: .head)
            }
        },
        TransportExpectation("A head that never ends is malformedResponse", .endlessHeads) { trial in
            let line = Data("X-Filler: \(String(repeating: "x", count: 1000))\r\n".utf8)
            trial.server.route(
                "/", LoopbackServer.Response([.verbatim(Data("HTTP/1.1 200 OK\r\n".utf8)), .repeatForever(line)]))
            try await trial.expectFailure(of: .data(trial.request()), .malformedResponse, in: .head)
            try await trial.closedConnections()
        },
        TransportExpectation("A head that breaks off fails the transfer before onHead", .brokenOffHeads) { trial in
            trial.server.route("/", .closing(.raw(Data("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Cut: ye".utf8))))
            let heads = Collector<Void>()
            let failure = try await trial.failure(of: .data(trial.request())) { _ in heads.append(()) }
            let code = (failure.error as? RequestError)?.code
            try expect(
                code == .connectionLost || code == .malformedResponse, "The cause is \(failure.error).")
            try expect("The phase", failure.phase, is: .head)
            try expect("The number of reported heads", heads.count, is: 0)
        },
        TransportExpectation("A CR, LF or NUL in a field is invalidField, and nothing is sent", .requestChecks) {
            trial in
            trial.server.respond { _ in .text("hello") }
            let fields = [("X-Evil", "a\r\nX-Forged: b"), ("X-Evil", "a\nb"), ("X-Evil", "a\rb"), ("X-Evil", "a\0b")]
            let names = [("X Evil", "a"), ("X-Evil:b\r\nX-Forged", "a"), ("", "a")]
            for field in fields + names {
                let request = trial.request(fields: [field])
                // Foundation may refuse to keep such a field. Then the transport has nothing to refuse.
                guard request.allHTTPHeaderFields?[field.0] == field.1 else { continue }
                let failure = try await trial.expectFailure(of: .data(request), .invalidField, in: .connect)
                try expect("Whether it may have been processed", failure.requestMayHaveBeenProcessed, is: false)
            }
            _ = try await trial.get("/fence")
            try expect("The requests", trial.server.requests.map(\.path), is: ["/fence"])
        },
        TransportExpectation("A scheme that is not http or https is unsupportedScheme", .requestChecks) { trial in
            for text in ["ftp://127.0.0.1/", "gopher://127.0.0.1/", "file:///etc/hostname", "x-own://127.0.0.1/"] {
                let url = try unwrap(URL(string: text), "\(text) makes no URL.")
                try await trial.expectFailure(of: .data(URLRequest(url: url)), .unsupportedScheme, in: .connect)
            }
        },
        TransportExpectation("A URL without a host is badURL", .requestChecks) { trial in
            for text in ["http:///path", "https://", "http:path"] {
                let url = try unwrap(URL(string: text), "\(text) makes no URL.")
                try await trial.expectFailure(of: .data(URLRequest(url: url)), .badURL, in: .connect)
            }
        },
        TransportExpectation("A URLSession task is carried out or refused as unsupported", .sessionTasks) { trial in
            trial.server.route("/", .text("hello"))
            let task = TransportTask.custom(trial.request(), makeTask: { $0.dataTask(with: $1) })
            do {
                try expect("The body", try await trial.perform(task).body, is: Data("hello".utf8))
            } catch let failure as TransferFailure {
                let code = (failure.error as? RequestError)?.code
                try expect("The code", code, is: .unsupported)
                try expect("The number of requests", trial.server.requests.count, is: 0)
            }
        },
    ]
}
