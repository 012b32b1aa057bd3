import Foundation

extension TransportExpectation {
    /// The request line and the fields of a request.
    static let requests: [TransportExpectation] = [
        TransportExpectation("The method and the target are sent as they are", .requestHeads) { trial in
            trial.server.respond { _ in .text("hello") }
            let targets = ["/a%2Fb?x=%20&y=%C3%A9&z", "/", "/a//b/", "/%7Euser;v=1,2/@:!$&'()*+=~-._"]
            for target in targets { _ = try await trial.get(target) }
            for method in ["OPTIONS", "PURGE", "DELETE"] {
                _ = try await trial.perform(.data(trial.request("/", method: method)))
            }
            try expect("The targets", trial.server.requests.prefix(targets.count).map(\.target), is: targets)
            try expect(
                "The methods", trial.server.requests.suffix(3).map(\.method), is: ["OPTIONS", "PURGE", "DELETE"])
        },
        TransportExpectation("The mark of an empty query is sent", .emptyQueries) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.get("/a?")
            try expect("The targets", trial.server.requests.map(\.target), is: ["/a?"])
        },
        TransportExpectation("Dots in a path are sent as they are", .dotSegments) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.get("/a/../b/./c")
            try expect("The targets", trial.server.requests.map(\.target), is: ["/a/../b/./c"])
        },
        TransportExpectation("A fragment is not sent, an empty path is sent as a slash", .requestHeads) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.get("/a#fragment")
            let bare = try unwrap(URL(string: "http://127.0.0.1:\(trial.server.port)"), "The port makes no URL.")
            _ = try await trial.perform(.data(URLRequest(url: bare)))
            try expect("The targets", trial.server.requests.map(\.target), is: ["/a", "/"])
        },
        TransportExpectation("Fields are sent as they are, in place of those of the transport", .requestHeads) {
            trial in
            trial.server.respond { _ in .text("hello") }
            let fields = [
                ("X-Own", "some  value"), ("User-Agent", "mine/1"), ("Accept", "text/x-own"),
                ("Accept-Language", "tlh"),
                ("Authorization", "Bearer abc"), ("Cookie", "a=1; b=2"), ("If-None-Match", "\"etag\""),
            ]
            _ = try await trial.perform(.data(trial.request(fields: fields)))
            let sent = try trial.onlyRequest
            for (name, value) in fields { try expect(name, sent.fields.values(of: name), is: [value]) }
            try expect("Host", sent.fields.values(of: "Host"), is: ["127.0.0.1:\(trial.server.port)"])
        },
        TransportExpectation("A field with an empty value is sent", .emptyRequestFields) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.perform(.data(trial.request(fields: [("X-Empty", "")])))
            try expect("The field", try trial.onlyRequest.fields.values(of: "X-Empty"), is: [""])
        },
        TransportExpectation("A field in UTF-8 is sent", .utf8RequestFields) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.perform(.data(trial.request(fields: [("X-Name", "caf\u{E9} \u{1F600}")])))
            try expect("The field", try trial.onlyRequest.field("X-Name"), is: "caf\u{E9} \u{1F600}")
        },
        TransportExpectation("A Host field of the user's is sent in place of the URL's", .ownHost) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.perform(.data(trial.request(fields: [("Host", "virtual.example")])))
            try expect("Host", try trial.onlyRequest.fields.values(of: "Host"), is: ["virtual.example"])
        },
        TransportExpectation("A target and a field of 16 KiB are sent whole", .requestHeads) { trial in
            trial.server.respond { _ in .text("hello") }
            let long = String(repeating: "0123456789abcdef", count: 1024)
            _ = try await trial.perform(.data(trial.request("/\(long)?q=\(long)", fields: [("X-Long", long)])))
            let sent = try trial.onlyRequest
            try expect(sent.target == "/\(long)?q=\(long)", "The target came changed.")
            try expect(sent.field("X-Long") == long, "The field came changed.")
        },
        TransportExpectation("A GET without a body says nothing of a body", .requestHeads) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.get()
            let sent = try trial.onlyRequest
            for name in ["Content-Length", "Transfer-Encoding", "Content-Type", "Expect"] {
                try expect(name, sent.fields.values(of: name), is: [])
            }
        },
    ]

    /// What a transport leaves to the layers above it.
    static let neutrality: [TransportExpectation] = [
        TransportExpectation("A redirect is a response like any other, and is not followed", .redirects) { trial in
            for status in [301, 302, 303, 307, 308] {
                let path = "/\(status)"
                let body = Data("elsewhere".utf8)
                trial.server.route(path, .status(status, fields: ["Location": "/target?a=b"], body: body))
                for method in ["GET", "POST"] {
                    let task = TransportTask.upload(
                        trial.request(path, method: method), from: method == "POST" ? .data(Data("x".utf8)) : .none)
                    let response = try await trial.perform(task)
                    try expect("The status", response.head.status, is: status)
                    try expect("Location", response.head.field("Location"), is: "/target?a=b")
                    try expect("The body of the \(status)", response.body, is: body)
                }
            }
            try expect("The number of requests", trial.server.requests.count, is: 10)
            try expect(!trial.server.requests.contains { $0.path == "/target" }, "A redirect was followed.")
        },
        TransportExpectation("A redirect that leads nowhere is a response", .redirectsToNowhere) { trial in
            trial.server.route("/", .status(302, body: Data("lost".utf8)))
            let response = try await trial.get()
            try expect("The status", response.head.status, is: 302)
            try expect("The body", response.body, is: Data("lost".utf8))
        },
        TransportExpectation("A redirect to what is no URL is a response", .redirects) { trial in
            trial.server.route("/", .redirect(to: "ftp://a b/", status: 302))
            let response = try await trial.get()
            try expect("The status", response.head.status, is: 302)
            try expect("Location", response.head.field("Location"), is: "ftp://a b/")
        },
        TransportExpectation("A rejected redirect keeps its connection", .redirects) { trial in
            trial.server.route("/", .redirect(to: "/target"))
            for _ in 1...3 {
                let failure = try await trial.failure(of: .data(trial.request())) { _ in throw Rejection() }
                try expect("Location", failure.head?.field("Location"), is: "/target")
            }
            try trial.expectOneConnection()
        },
        TransportExpectation("A challenge is a response like any other, and is not answered", .challenges) { trial in
            let challenges = ["Basic realm=\"a\"", "Digest realm=\"a\", nonce=\"b\"", "Bearer", "Negotiate", "X-Own"]
            for (index, challenge) in challenges.enumerated() {
                let answer = LoopbackServer.Response.status(
                    401, fields: ["WWW-Authenticate": challenge], body: Data("who?".utf8))
                trial.server.route("/\(index)", answer)
                let response = try await trial.get("/\(index)")
                try expect("The status", response.head.status, is: 401)
                try expect("The challenge", response.head.field("WWW-Authenticate"), is: challenge)
                try expect("The body", response.body, is: Data("who?".utf8))
            }
            try expect("The number of requests", trial.server.requests.count, is: challenges.count)
        },
        TransportExpectation("A proxy's challenge of an origin is a response like any other", .challenges) { trial in
            trial.server.route("/", .status(407, fields: ["Proxy-Authenticate": "Basic realm=\"a\""]))
            try expect("The status", try await trial.get().head.status, is: 407)
            try expect("The number of requests", trial.server.requests.count, is: 1)
        },
        TransportExpectation("Cookies are not kept", .memorylessness) { trial in
            trial.server.respond { _ in .status(200, fields: ["Set-Cookie": "session=1; Path=/; Max-Age=3600"]) }
            for _ in 1...2 { _ = try await trial.get() }
            let cookies = trial.server.requests.map { $0.fields.values(of: "Cookie") }
            try expect("The cookies sent", cookies, is: [[], []])
        },
        TransportExpectation("Credentials are not kept", .memorylessness) { trial in
            trial.server.respond { _ in .text("hello") }
            _ = try await trial.perform(.data(trial.request(fields: [("Authorization", "Basic YTpi")])))
            _ = try await trial.get()
            let sent = trial.server.requests.map { $0.fields.values(of: "Authorization") }
            try expect("The credentials sent", sent, is: [["Basic YTpi"], []])
        },
        TransportExpectation("Responses are not kept", .memorylessness) { trial in
            let fields: LoopbackServer.Fields = ["Cache-Control": "max-age=3600, public", "ETag": "\"a\""]
            trial.server.route(
                "/", .status(200, fields: fields, body: Data("1".utf8)), .status(200, body: Data("2".utf8)))
            try expect("The first body", try await trial.get().body, is: Data("1".utf8))
            try expect("The second body", try await trial.get().body, is: Data("2".utf8))
            let conditions = trial.server.requests.map { $0.fields.values(of: "If-None-Match") }
            try expect("The conditions sent", conditions, is: [[], []])
        },
    ]
}
