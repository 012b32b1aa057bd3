import Foundation

extension TransportExpectation {
    /// How and when a head is reported.
    static let heads: [TransportExpectation] = [
        TransportExpectation("A head is reported exactly once", .heads) { trial in
            let heads = Collector<ResponseHead>()
            trial.server.route("/", .text("hello"))
            let response = try await trial.perform(.data(trial.request())) { heads.append($0) }
            try expect("The number of reports", heads.count, is: 1)
            try expect("The status in the response", response.head.status, is: 200)
        },
        TransportExpectation("A head has the status, the URL and the fields of the response", .heads) { trial in
            let heads = Collector<ResponseHead>()
            trial.server.route("/a", .status(203, fields: ["X-Case": "Kept As Sent", "X-Empty": ""]))
            let request = trial.request("/a?b=c")
            _ = try await trial.perform(.data(request)) { heads.append($0) }
            let head = try unwrap(heads.elements.first, "No head was reported.")
            try expect("The status", head.status, is: 203)
            try expect("The URL", head.url, is: trial.server.url("/a?b=c"))
            try expect("A field", head.field("x-case"), is: "Kept As Sent")
            try expect("An empty field", head.field("X-Empty"), is: "")
            try expect("An absent field", head.field("X-Absent"), is: nil)
        },
        TransportExpectation("A head comes before any byte of the body is delivered", .heads) { trial in
            let events = Collector<String>()
            trial.server.route("/", .drip(Content.pattern(20), chunk: 10, every: .milliseconds(20)))
            let task = TransportTask.stream(trial.request()) { _ in events.append("body") }
            _ = try await trial.perform(task) { _ in events.append("head") }
            try expect("The first event", events.elements.first, is: "head")
            try expect(events.count > 1, "No byte of the body was delivered.")
        },
        TransportExpectation("A head is reported on the Task that called perform", .callerTask) { trial in
            trial.server.route("/", .text("hello"))
            let seen = Collector<(TaskIdentity, Int)>()
            try await Inherited.$value.withValue(7) {
                let caller = TaskIdentity.current
                _ = try await trial.perform(.data(trial.request())) { _ in
                    seen.append((.current, Inherited.value))
                }
                let (task, inherited) = try unwrap(seen.elements.first, "No head was reported.")
                try expect("The task-local value", inherited, is: 7)
                try expect(task == caller, "Another Task than the caller's reported the head.")
            }
        },
        TransportExpectation("An onHead that blocks delays no other transfer", .blockingHandlers) { trial in
            trial.server.respond { _ in .text("hello") }
            let blocks = Door()
            let others = DispatchSemaphore(value: 0)
            let blocked = Task {
                try await onBlockingThread {
                    try await trial.perform(.data(trial.request("/blocked"))) { _ in
                        blocks.open()
                        guard others.wait(timeout: .now() + 30) == .success else {
                            throw ConformanceFailure("Others got no answer in the 30 s for which one onHead blocked.")
                        }
                    }
                }
            }
            try expect(await blocks.isOpen(within: trial.patience), "No head was reported.")
            for number in 1...4 { _ = try await trial.get("/other\(number)") }
            others.signal()
            _ = try await blocked.value
        },
        TransportExpectation("Every final status is a response, an error to nobody but onHead", .heads) { trial in
            trial.server.respond { request in .status(Int(request.path.dropFirst()) ?? 0, body: Data("body".utf8)) }
            for status in [200, 201, 206, 299, 300, 400, 404, 418, 429, 500, 503, 599] {
                let response = try await trial.get("/\(status)")
                try expect("The status", response.head.status, is: status)
                try expect("The body of \(status)", response.body, is: Data("body".utf8))
            }
        },
        TransportExpectation("Informational heads are not reported", .informationalHeads) { trial in
            for status in [100, 102, 103] {
                let heads = Collector<Int>()
                trial.server.route("/", .informational(status, fields: ["Link": "</a>"], then: .text("hello")))
                let response = try await trial.perform(.data(trial.request())) { heads.append($0.status) }
                try expect("The reported statuses after a \(status)", heads.elements, is: [200])
                try expect("A field of the \(status) in the final head", response.head.field("Link"), is: nil)
                try expect("The body", response.body, is: Data("hello".utf8))
            }
        },
        TransportExpectation("The version of the protocol is told", .protocolVersion) { trial in
            trial.server.route("/1.1", .text("hello"))
            trial.server.route("/1.0", .closing(.wire("HTTP/1.0 200 OK", "Content-Length: 2", body: "ok")))
            try expect("The version", try await trial.get("/1.1").head.version, is: .http1_1)
            try expect("The version", try await trial.get("/1.0").head.version, is: .http1_0)
        },
    ]

    /// The fields of a response, in the forms in which servers send them.
    static let fields: [TransportExpectation] = [
        TransportExpectation("Several fields of one name are read as one value, in order", .heads) { trial in
            trial.server.route("/", .status(200, fields: ["X-List": "a", "X-Other": "o", "X-List": "b, c"]))
            try expect("The joined value", try await trial.get().head.field("x-list"), is: "a, b, c")
        },
        TransportExpectation("A name in several spellings is one name", .respelledFields) { trial in
            trial.server.route(
                "/",
                .status(
                    200,
                    fields: [
                        "X-List": "a", "x-list": "b", "X-LIST": "c", "x-List": "d", "X-list": "e", "x-LIST": "f",
                    ]))
            try expect("The joined value", try await trial.get().head.field("X-List"), is: "a, b, c, d, e, f")
        },
        TransportExpectation("Several fields of one name stay apart", .repeatedFields) { trial in
            let cookies = ["a=1; Expires=Wed, 21 Oct 2065 07:28:00 GMT", "b=2; Path=/", "a=3"]
            let fields = LoopbackServer.Fields(cookies.map { .init(name: "Set-Cookie", value: $0) })
            trial.server.route("/", .status(200, fields: fields))
            try expect("The fields", try await trial.get().head.values(of: "set-cookie"), is: cookies)
        },
        TransportExpectation("Fields keep the order in which they arrived", .fieldOrder) { trial in
            let names = (0..<40).map { "X-\($0 * 7919 % 101)" }
            trial.server.route("/", .status(200, fields: .init(names.map { .init(name: $0, value: "v") })))
            let found = try await trial.get().head.fields.map(\.name).filter { $0.hasPrefix("X-") }
            try expect("The order", found, is: names)
        },
        TransportExpectation("A folded field is read as one line", .foldedFields) { trial in
            trial.server.route(
                "/", .wire("HTTP/1.1 200 OK", "X-Folded: one", " two", "\t three", "Content-Length: 2", body: "ok"))
            let response = try await trial.get()
            try expect("The field", response.head.field("X-Folded"), is: "one two three")
            try expect("The body", response.body, is: Data("ok".utf8))
        },
        TransportExpectation("A field in Latin-1 is read", .latin1Fields) { trial in
            let lines = "HTTP/1.1 200 OK\r\nX-Name: caf\u{E9}\r\nContent-Length: 2\r\n\r\nok"
            trial.server.route("/", .raw(Data(lines.unicodeScalars.map { UInt8($0.value) })))
            try expect("The field", try await trial.get().head.field("X-Name"), is: "caf\u{E9}")
        },
        TransportExpectation("A field in UTF-8 is read", .utf8Fields) { trial in
            trial.server.route("/", .status(200, fields: ["X-Name": "caf\u{E9} \u{1F600}"]))
            try expect("The field", try await trial.get().head.field("X-Name"), is: "caf\u{E9} \u{1F600}")
        },
        TransportExpectation("A field without a space after its colon is read", .unspacedFields) { trial in
            trial.server.route("/", .wire("HTTP/1.1 200 OK", "X-Tight:value", "Content-Length:2", body: "ok"))
            let response = try await trial.get()
            try expect("The field", response.head.field("X-Tight"), is: "value")
            try expect("The body", response.body, is: Data("ok".utf8))
        },
        TransportExpectation("A status line without a reason phrase is read", .reasonlessStatus) { trial in
            for line in ["HTTP/1.1 200 ", "HTTP/1.1 200"] {
                trial.server.route("/", .wire(line, "Content-Length: 2", body: "ok"))
                let response = try await trial.get()
                try expect("The status of “\(line)”", response.head.status, is: 200)
                try expect("The body", response.body, is: Data("ok".utf8))
            }
        },
        TransportExpectation("Lines that end with a line feed alone are read", .bareLineFeeds) { trial in
            let lines = "HTTP/1.1 200 OK\nX-Field: value\nContent-Length: 2\n\nok"
            trial.server.route("/", .raw(Data(lines.utf8)))
            let response = try await trial.get()
            try expect("The field", response.head.field("X-Field"), is: "value")
            try expect("The body", response.body, is: Data("ok".utf8))
        },
        TransportExpectation("A field of 16 KiB and a hundred others arrive whole", .largeHeads) { trial in
            let long = String(repeating: "0123456789abcdef", count: 1024)
            var fields: LoopbackServer.Fields = ["X-Long": long]
            for number in 1...100 { fields.append(name: "X-\(number)", value: String(number)) }
            trial.server.route("/", .status(200, fields: fields))
            let head = try await trial.get().head
            try expect(head.field("X-Long") == long, "The long field came changed.")
            for number in 1...100 { try expect("A field", head.field("X-\(number)"), is: String(number)) }
        },
    ]
}
