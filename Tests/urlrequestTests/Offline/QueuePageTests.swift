#if CommandLineTool
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// The page of a queue, as a client sees it.
    @Suite(.timeLimit(.minutes(5))) struct QueuePageTests {
        private let place = QueuePlace()

        @Test func `The token becomes a cookie, and the address loses it`() async throws {
            let page = try await ServedPage(place)
            let welcome = try await page.ask("/?token=\(page.token)", fields: ["Cookie": nil])
            #expect(welcome.head.status == 303 && welcome.head.field("Location") == page.folder + "/")
            let cookie = try #require(welcome.head.field("Set-Cookie"))
            #expect(cookie == page.cookie + "; Path=\(page.folder)/; HttpOnly; SameSite=Strict")
            let shown = try await page.ask("/")
            #expect(shown.head.status == 200 && !shown.text.contains(page.token))
            #expect(try await page.end() == 130)
        }

        @Test func `Without the token or the cookie all is refused`() async throws {
            let page = try await ServedPage(place)
            let paths = ["/", "/page.js", "/page.css", "/records", "/record?id=1", "/events", "/?token=\(page.cookie)"]
            for path in paths {
                for cookie in [nil, page.cookie + "0", "queue=\(page.token)", "token="] {
                    #expect(try await page.ask(path, fields: ["Cookie": cookie]).head.status == 403, "\(path)")
                }
            }
            for path in ["/retry", "/remove", "/pause", "/resume", "/stop", "/?token=\(page.token)"] {
                #expect(try await page.ask(path, "POST", body: "{}", fields: ["Cookie": nil]).head.status == 403)
            }
        }

        @Test func `Outside its path nothing is served, so the cookie stays on this port`() async throws {
            let page = try await ServedPage(place)
            for folder in ["", "/", "/x", page.folder + "x", page.folder.uppercased()] {
                for path in ["", "/", "/page.js", "/records", "/?token=\(page.token)"] {
                    #expect(try await page.ask(path, below: folder).head.status == 403, "\(folder)\(path)")
                }
            }
            #expect(page.folder.count > 32)
            #expect(try await page.ask("/").head.status == 200)
        }

        @Test func `Another host is refused, and so is localhost`() async throws {
            let page = try await ServedPage(place)
            let hosts = ["evil.example:\(page.port)", "127.0.0.1", "localhost", "127.0.0.1:1", "[::1]:\(page.port)"]
            for host in hosts + ["localhost:\(page.port)"] {
                for path in ["/", "/?token=\(page.token)"] {
                    #expect(try await page.ask(path, fields: ["Host": host]).head.status == 403, "\(host)")
                }
            }
        }

        @Test func `A foreign origin is refused, and a change needs its own`() async throws {
            let page = try await ServedPage(place)
            let foreign = ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1:\(page.port)"]
            for origin in foreign + ["http://localhost:\(page.port)"] {
                #expect(try await page.ask("/records", fields: ["Origin": origin]).head.status == 403)
                #expect(try await page.ask("/stop", "POST", fields: ["Origin": origin]).head.status == 403)
            }
            #expect(try await page.ask("/stop", "POST", fields: ["Origin": nil]).head.status == 403)
            #expect(try await page.ask("/stop", "POST").head.status == 202)
        }

        @Test func `Nothing is cached, framed or loaded from elsewhere`() async throws {
            let page = try await ServedPage(place)
            let requests: [(String, [String: String?])] = [
                ("/", [:]), ("/page.js", [:]), ("/records", [:]), ("/", ["Cookie": nil]),
            ]
            for (path, fields) in requests {
                let head = try await page.ask(path, fields: fields).head
                let policy = head.field("Content-Security-Policy") ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe-inline") && !policy.contains("http"))
                #expect(head.field("X-Content-Type-Options") == "nosniff" && head.field("Cache-Control") == "no-store")
            }
            let markup = try await page.ask("/").text
            #expect(!markup.contains("<style") && !markup.contains("style=") && !markup.contains("://"))
            #expect(markup.components(separatedBy: "<script").count == 2 && !markup.contains(" on"))
        }

        @Test func `A record shows no credentials, and its body only if asked for`() async throws {
            _ = try await place.run(
                "add", "http://u:canary1@a.example/1?token=canary2&q=1", "--store-credentials", "--header",
                "Authorization: Bearer canary3", "--data", "canary4", "--lane", "<script>alert(1)</script>")
            let page = try await ServedPage(place)
            for path in ["/records", "/record?id=1", "/records?text=canary", "/record?id=1&show=x"] {
                #expect(try await !page.ask(path).text.contains("canary"), "\(path)")
            }
            let record = try await page.ask("/record?id=1")
            #expect(record.head.field("Content-Type") == "application/json")
            #expect(record.text.contains("Authorization") && record.text.contains("redacted"))
            let body = try await page.ask("/record?id=1&show=body").text
            #expect(body.contains("canary4") && !body.contains("canary3"))
            #expect(try await page.rows("/records?lane=%3Cscript%3Ealert(1)%3C%2Fscript%3E") == ["1"])
            #expect(try await page.ask("/record?id=2").head.status == 404)
            #expect(try await page.ask("/record?id=x").head.status == 400)
            #expect(try await page.ask("/records?state=lost").head.status == 400)
        }

        @Test func `Records are searched, retried and removed, and the store changes`() async throws {
            let server = try await LoopbackServer.start { $0.path == "/bad" ? .empty(404) : .empty(204) }
            _ = try await place.run("add", server.url("/bad").absoluteString)
            _ = try await place.run("run", "--drain")
            let lines = (2...30).map {
                #"{"url": "http://a.example/\#($0)", "lane": "\#($0 % 2 == 0 ? "even" : "odd")"}"#
            }
            _ = try await place.run("add", "--input", "-", input: lines.joined(separator: "\n"))
            let page = try await ServedPage(place)
            #expect(try await page.rows("/records?state=dead") == ["1"])
            #expect(try await page.rows("/records?text=example/7") == ["7"])
            #expect(try await page.rows("/records?text=30") == ["30"])
            #expect(try await page.rows("/records?text=30&lane=odd").isEmpty)
            #expect(try await page.rows("/records?text=%231") == ["1"])
            #expect(try await page.rows("/records?host=http%3A%2F%2Fa.example&before=3") == ["2"])
            #expect(try await page.rows("/records?lane=odd&before=7") == ["5", "3"])

            #expect(try await page.ask("/retry", "POST", body: #"{"ids": ["1", "2"]}"#).head.status == 202)
            try await page.changed(1)
            #expect(try await page.rows("/records?state=dead").isEmpty)
            #expect(try await page.ask("/remove", "POST", body: #"{"ids": ["3", "99"]}"#).head.status == 202)
            try await page.changed(1)
            // What is newer than the list stays.
            let even = #"{"lane": "even", "before": "29"}"#
            #expect(try await page.ask("/remove", "POST", body: even).head.status == 202)
            try await page.changed(14)
            let some = #"{"text": "example/2", "before": "29"}"#
            #expect(try await page.ask("/remove", "POST", body: some).head.status == 202)
            try await page.changed(4)
            #expect(try await page.rows("/records?lane=even") == ["30"])
            #expect(try await page.ask("/remove", "POST", body: "[]").head.status == 400)
            #expect(try await page.ask("/record?id=2").text.contains("removed"))
            #expect(try await page.end() == 130)
            #expect(try await place.run("list").lines.count == 11)
        }

        @Test func `A long body is not shown, and the page says how to get it`() async throws {
            let body = String(repeating: "canary ", count: 40_000)
            _ = try await place.run(
                "add", "--input", "-", input: #"{"url": "http://a.example/", "method": "POST", "body": "\#(body)"}"#)
            let page = try await ServedPage(place)
            let record = try await page.ask("/record?id=1").text
            #expect(record.contains("queue show --body") && record.contains(#""hasShortBody":false"#))
            let refused = try await page.ask("/record?id=1&show=body")
            #expect(refused.head.status == 400 && !refused.text.contains("canary"))
        }

        @Test func `Deliver sends what waits, and Pause stops that`() async throws {
            let server = try await LoopbackServer.start { _ in .empty(204) }
            let page = try await ServedPage(place)
            _ = try await place.run("add", server.url("/1").absoluteString)
            #expect(try await page.ask("/resume", "POST").head.status == 202)
            try await page.live {
                $0["isPaused"] as? Bool == false && ($0["delivered"] as? [Int])?.reduce(0, +) == 1
            }
            #expect(server.requests.count == 1)
            #expect(try await page.ask("/pause", "POST").head.status == 202)
            try await page.live { $0["isPaused"] as? Bool == true }
        }

        @Test func `A port that is taken ends the command with status 2`() async throws {
            let page = try await ServedPage(place)
            let other = try place.start(["serve", "--port", "\(page.port)"])
            let ended = try await other.end()
            #expect(ended.status == 2 && ended.errors.contains("on port \(page.port): Address already in use"))
            #expect(try await place.run("serve", "--port", "80").status == 2)
        }
    }

    /// A running page, and what a browser would know of it.
    final class ServedPage: Sendable {
        struct Answer: Sendable {
            let head: ResponseHead
            let text: String
        }

        private let tool: RunningTool
        let port: Int
        let token: String
        /// The random path, without the slash at its end.
        let folder: String

        init(_ place: QueuePlace) async throws {
            tool = try place.start(["serve"])
            let line = await tool.output(lines: 1).trimmingCharacters(in: .newlines)
            let address = try #require(URL(string: line))
            port = try #require(address.port)
            folder = "/" + address.pathComponents.dropFirst().joined(separator: "/")
            token = String(line.split(separator: "=").last ?? "")
        }

        deinit { tool.send(SIGKILL) }

        var cookie: String { "token=\(token)" }
        private var origin: String { "http://127.0.0.1:\(port)" }

        /// Asks with the cookie and, for a POST, the origin, unless other fields are given.
        func ask(
            _ path: String, _ method: String = "GET", below folder: String? = nil, body: String? = nil,
            fields: [String: String?] = [:]
        ) async throws -> Answer {
            let operation = URLRequestOperation(
                try request((folder ?? self.folder) + path, method, body: body, fields: fields),
                decoder: ResponseDecoder { Answer(head: $0.head, text: String(decoding: $0.body, as: UTF8.self)) },
                configuration: configuration)
            OperationQueue().addOperation(operation)
            return try await operation.value
        }

        /// The ids of a list.
        func rows(_ path: String) async throws -> [String] {
            let object = try JSONSerialization.jsonObject(with: Data(try await ask(path).text.utf8)) as? [String: Any]
            return (object?["records"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
        }

        /// Waits until the events show a state.
        func live(_ isWanted: ([String: Any]) -> Bool) async throws {
            let events = EventSourceOperation(try request(folder + "/events", "GET"), configuration: configuration)
            OperationQueue().addOperation(events)
            for try await event in events.serverSentEvents {
                let state = try JSONSerialization.jsonObject(with: Data(event.data.utf8)) as? [String: Any]
                if isWanted(state ?? [:]) { return }
            }
            Issue.record("the events ended")
        }

        /// Waits until a change of so many records is over.
        func changed(_ count: Int) async throws {
            try await live {
                let change = $0["change"] as? [String: Any]
                return change?["done"] as? Int == count && change?["isRunning"] as? Bool == false
            }
        }

        /// Ends it as Ctrl-C does. Returns the exit status.
        func end() async throws -> Int32 {
            tool.send(SIGINT)
            return try await tool.end().status
        }

        private var configuration: RequestConfiguration {
            var configuration = RequestConfiguration.default
            configuration.validation = .none
            configuration.redirects = .none
            return configuration
        }

        private func request(
            _ path: String, _ method: String, body: String? = nil, fields: [String: String?] = [:]
        ) throws -> URLRequest {
            var request = URLRequest(url: try #require(URL(string: origin + path)))
            request.httpMethod = method
            request.httpBody = body.map { Data($0.utf8) }
            let own: [String: String?] = ["Cookie": cookie, "Origin": method == "POST" ? origin : nil]
            for (name, value) in own.merging(fields, uniquingKeysWith: { $1 }) {
                request.setValue(value, forHTTPHeaderField: name)
            }
            return request
        }
    }
#endif
