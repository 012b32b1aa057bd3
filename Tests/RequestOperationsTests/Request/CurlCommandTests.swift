import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct CurlCommandTests {
    /// Runs a command in a shell, against a server, and gives the request that arrived.
    private func sent(
        _ request: URLRequest, by server: LoopbackServer
    ) async throws -> LoopbackServer.Request {
        let before = server.requests.count
        let command = request.curlCommand(redaction: nil)
        if command.utf8.count < 100_000 {
            _ = try await Program.run("sh", ["-c", command])
        } else {
            // An argument has a longest length.
            let script = TemporaryPath()
            try Data(command.utf8).write(to: script.url)
            _ = try await Program.run("sh", [script.url.path])
        }
        return try await server.requests(atLeast: before + 1)[before]
    }

    @Test func `A shell sends an equal request whatever the values hold`() async throws {
        let server = try await LoopbackServer.start { _ in .empty() }
        var texts = AnyText(seed: 11)
        for _ in 0..<40 {
            var request = URLRequest(url: server.url("/a[1]/{x}/../b"))
            request.url?.append(queryItems: [URLQueryItem(name: "q", value: texts.next())])
            request.httpMethod = ["POST", "PUT", "REPORT"][texts.number(in: 0...2)]
            // ASCII without controls: the bytes of others are nobody's to choose.
            let value = texts.next().unicodeScalars.filter { ("!"..."~").contains($0) }.map(String.init).joined()
            request.setValue(value, forHTTPHeaderField: "X-Value")
            request.setValue("", forHTTPHeaderField: "X-Empty")
            let body = Data(texts.next().utf8)
            request.httpBody = body
            let arrived = try await sent(request, by: server)
            let path = try #require(request.url).absoluteString.dropFirst(server.url.absoluteString.count)
            #expect(arrived.method == request.httpMethod && arrived.target == path)
            #expect(arrived.field("X-Value") == value && arrived.field("X-Empty") == "")
            #expect(arrived.body == body && arrived.field("Content-Type") == nil)
        }
    }

    @Test func `A body of any bytes and size arrives`() async throws {
        let server = try await LoopbackServer.start { _ in .empty() }
        let apostrophes = Data(repeating: 0x27, count: 60_000)
        for body in [Data(0...255), apostrophes, Data(repeating: 0x2D, count: 300_000), Data()] {
            var request = URLRequest(url: server.url("/x"))
            request.httpMethod = "POST"
            request.httpBody = body
            let arrived = try await sent(request, by: server)
            #expect(arrived.body == body && arrived.isBodyComplete)
        }
    }

    @Test(arguments: ["\u{301}", "\u{FE0F}", "\u{200D}"])
    func `An apostrophe that a character holds ends no word`(_ mark: String) async throws {
        let server = try await LoopbackServer.start { _ in .empty() }
        var request = URLRequest(url: server.url("/x"))
        request.httpMethod = "POST"
        request.httpBody = Data("'\(mark); echo PWNED; '\(mark)".utf8)
        #expect(try await sent(request, by: server).body == request.httpBody)
        let printed = try await Program.run("sh", ["-c", request.curlCommand(redaction: nil)])
        #expect(printed.isEmpty)
    }

    @Test func `A head with a body is sent`() async throws {
        let server = try await LoopbackServer.start { _ in .empty() }
        var request = URLRequest(url: server.url("/x"))
        request.httpMethod = "HEAD"
        request.httpBody = Data("b".utf8)
        let arrived = try await sent(request, by: server)
        #expect(arrived.method == "HEAD" && arrived.body == Data("b".utf8))
    }

    @Test func `A field that no transport sends is not in it`() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a.example")))
        request.setValue("v", forHTTPHeaderField: "@/etc/hostname")
        request.setValue("v", forHTTPHeaderField: "X-Kept")
        #expect(!request.curlCommand().contains("hostname") && request.curlCommand().contains("X-Kept"))
    }

    @Test func `Get and head have their methods`() async throws {
        let server = try await LoopbackServer.start { _ in .empty() }
        for method in ["GET", "HEAD", "DELETE"] {
            var request = URLRequest(url: server.url("/x"))
            request.httpMethod = method
            #expect(try await sent(request, by: server).method == method)
        }
    }

    @Test func `An endpoint sends the same`() async throws {
        struct Post: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.post
            let path = "posts"
            var bodyEncoder: ParameterEncoder { .json }
            @Query var draft = true
            var title = "it's $(rm) `x` \"y\" \\ \n z"
            enum CodingKeys: CodingKey { case draft, title }
        }
        let server = try await LoopbackServer.start { _ in .empty() }
        let command = try Post().curlCommand(relativeTo: server.url, redaction: nil)
        _ = try await Program.run("sh", ["-c", command])
        let arrived = try #require(server.requests.first)
        let expected = try Post().urlRequest(relativeTo: server.url)
        #expect(arrived.body == expected.httpBody && arrived.target == "/posts?draft=1" && arrived.method == "POST")
        #expect(arrived.field("Content-Type") == "application/json")
    }

    // MARK: What is left out

    private func command(_ change: (inout URLRequest) -> Void) throws -> String {
        var request = URLRequest(
            url: try #require(
                URL(string: "https://us:s3cr3t@a.example/x?access_token=s3cr3t&page=2&user[password]=s3cr3t")))
        change(&request)
        return request.curlCommand()
    }

    @Test func `Credentials are left out`() throws {
        let text = try command {
            $0.setValue("Bearer s3cr3t", forHTTPHeaderField: "authorization")
            $0.setValue("a=s3cr3t", forHTTPHeaderField: "Cookie")
            $0.setValue("s3cr3t", forHTTPHeaderField: "X-API-Key")
            $0.setValue("shown", forHTTPHeaderField: "X-Other")
        }
        #expect(!text.contains("s3cr3t") && text.contains("page=2") && text.contains("X-Other: shown"))
    }

    @Test func `Credentials in a form are left out`() throws {
        let text = try command {
            $0.httpMethod = "POST"
            $0.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            $0.httpBody = Data("user=ada&password=s3cr3t&login%5Bsecret%5D=s3cr3t".utf8)
        }
        #expect(!text.contains("s3cr3t") && text.contains("user=ada"))
    }

    @Test(arguments: ["application/json", "application/vnd.api+json; charset=utf-8"])
    func `Credentials in JSON are left out`(_ type: String) throws {
        let text = try command {
            $0.httpMethod = "POST"
            $0.setValue(type, forHTTPHeaderField: "Content-Type")
            $0.httpBody = Data(#"[{"user": "ada", "clientSecret": "s3cr3t", "deep": {"token": ["s3cr3t"]}}]"#.utf8)
        }
        #expect(!text.contains("s3cr3t") && text.contains("ada"))
    }

    @Test(arguments: [
        "application/x-plist", "application/xml", "text/plain", "multipart/form-data; boundary=b", "nonsense", nil,
    ])
    func `A body in which nothing can be told apart is left out`(_ type: String?) throws {
        let text = try command {
            $0.httpMethod = "POST"
            $0.setValue(type, forHTTPHeaderField: "Content-Type")
            $0.httpBody = Data("<password>s3cr3t</password>".utf8)
        }
        #expect(!text.contains("s3cr3t") && text.contains("--data-raw 'redacted'"))
    }

    @Test func `A text that declares JSON is read as such`() throws {
        let text = try command {
            $0.httpMethod = "POST"
            $0.setValue("text/json", forHTTPHeaderField: "Content-Type")
            $0.httpBody = Data(#"{"user": "ada", "password": "s3cr3t"}"#.utf8)
        }
        #expect(!text.contains("s3cr3t") && text.contains("ada"))
    }

    @Test(arguments: ["password=\u{301}s3cr3t", "a=1&\u{301}password=s3cr3t", "password\u{301}=s3cr3t"])
    func `A combining mark in a form shows nothing`(_ form: String) throws {
        let text = try command {
            $0.httpMethod = "POST"
            $0.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            $0.httpBody = Data(form.utf8)
        }
        #expect(!text.contains("s3cr3t"))
    }
}
