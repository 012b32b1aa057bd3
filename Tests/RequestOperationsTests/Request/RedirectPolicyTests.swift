import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct RedirectPolicyTests {
    private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private static func task(
        _ url: String, _ method: String = "GET", _ fields: [String: String] = [:], body: RequestBody = .none
    ) throws -> TransportTask {
        var request = URLRequest(url: try Self.url(url))
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        return TransportTask(request, body: body)
    }

    private static func head(_ status: Int, _ location: String?, from url: String = "http://a.example/x") throws
        -> ResponseHead
    {
        ResponseHead(
            status: status, url: try Self.url(url), fields: location.map { [("location", $0)] } ?? [], version: .http1_1
        )
    }

    /// The task after one redirect.
    private static func next(
        _ policy: RedirectPolicy = RedirectPolicy(), _ status: Int = 302, to location: String, _ task: TransportTask
    ) throws -> TransportTask {
        let head = try head(status, location, from: try #require(task.request.url).absoluteString)
        let target = try #require(policy.target(of: head))
        return try policy.next(after: head, to: target, task: task, visited: [RedirectPolicy.Hop(task.request)])
    }

    private static func refusal(_ body: () throws -> Void) -> RequestError.Code? {
        #expect(throws: RequestError.self, performing: body)?.code
    }

    // MARK: What redirects

    @Test(arguments: Array(300...310) + [200, 201, 304, 404, 503])
    func `Five statuses redirect`(status: Int) throws {
        let target = RedirectPolicy().target(of: try Self.head(status, "/y"))
        #expect((target != nil) == [301, 302, 303, 307, 308].contains(status))
    }

    @Test(arguments: [nil, "", " ", "mailto:a@b", "http:", "http:x", "https:///x", "http://[::1/x"])
    func `A location that leads nowhere is no redirect`(location: String?) throws {
        #expect(RedirectPolicy().target(of: try Self.head(302, location)) == nil)
    }

    @Test(arguments: [0, -1])
    func `A maximum of zero follows nothing`(maximum: Int) throws {
        #expect(RedirectPolicy(maximum: maximum).target(of: try Self.head(302, "/y")) == nil)
    }

    @Test func `A bracket in a location escapes nothing twice`() throws {
        let target = RedirectPolicy().target(of: try Self.head(302, "/x?page[n]=2&signature=a%2Fb"))
        #expect(target?.absoluteString == "http://a.example/x?page%5Bn%5D=2&signature=a%2Fb")
    }

    @Test func `Several different locations are no redirect`() throws {
        let url = try Self.url("http://a.example/")
        let two = ResponseHead(status: 302, url: url, fields: [("Location", "/a"), ("location", "/b")])
        #expect(RedirectPolicy().target(of: two) == nil)
        let same = ResponseHead(status: 302, url: url, fields: [("Location", "/a"), ("location", "/a")])
        #expect(RedirectPolicy().target(of: same)?.absoluteString == "http://a.example/a")
    }

    // MARK: Where it leads

    @Test(arguments: [
        ("target", "http://a.example:8080/b/c/target#fr%20ag"), ("../x", "http://a.example:8080/b/x#fr%20ag"),
        ("../../../x", "http://a.example:8080/x#fr%20ag"), ("./", "http://a.example:8080/b/c/#fr%20ag"),
        ("?r", "http://a.example:8080/b/c/d;p?r#fr%20ag"), ("/y", "http://a.example:8080/y#fr%20ag"),
        ("//host/p", "http://host/p#fr%20ag"), ("/p%2Fq", "http://a.example:8080/p%2Fq#fr%20ag"),
        ("/p%20q?r=%26", "http://a.example:8080/p%20q?r=%26#fr%20ag"), ("/a b", "http://a.example:8080/a%20b#fr%20ag"),
        ("/ä", "http://a.example:8080/%C3%A4#fr%20ag"), ("/\u{C3}\u{A4}", "http://a.example:8080/%C3%83%C2%A4#fr%20ag"),
        ("#own", "http://a.example:8080/b/c/d;p?q#own"), ("/x#own%20one", "http://a.example:8080/x#own%20one"),
        ("/x#", "http://a.example:8080/x#"), ("http://[::1]:81/x", "http://[::1]:81/x#fr%20ag"),
        ("https://b.example/", "https://b.example/#fr%20ag"), ("  /y\t", "http://a.example:8080/y#fr%20ag"),
        ("http://b.example:80/x", "http://b.example:80/x#fr%20ag"),
        ("HTTP://B.example/x", "HTTP://B.example/x#fr%20ag"),
        ("/a\r\nb", "http://a.example:8080/a%0D%0Ab#fr%20ag"),
    ])
    func `A location is resolved and inherits the fragment`(location: String, expected: String) throws {
        let head = try Self.head(302, location, from: "http://a.example:8080/b/c/d;p?q#fr%20ag")
        #expect(RedirectPolicy().target(of: head)?.absoluteString == expected)
    }

    // The path of a reference with a scheme, with an authority, and without both (RFC 3986, section 5.2.2).
    @Test(arguments: [
        ("http://b.example/a/../b", "http://b.example/b"), ("http://b.example/a/./b", "http://b.example/a/b"),
        ("http://b.example/..", "http://b.example/"), ("http://b.example/a/..", "http://b.example/"),
        ("http://b.example/a/.", "http://b.example/a/"),
        ("http://b.example/a/b/../../../c?x=/../y", "http://b.example/c?x=/../y"),
        ("http://b.example/a/../b#/../c", "http://b.example/b#/../c"), ("//b.example/a/../b", "http://b.example/b"),
        ("//b.example/../b/", "http://b.example/b/"), ("/a/../b", "http://a.example/b"),
        ("/./a/.././b/", "http://a.example/b/"),
        ("http://b.example/a//../b", "http://b.example/a/b"),
        ("http://b.example/.a/..b/c..", "http://b.example/.a/..b/c.."),
        ("http://b.example/a%2F../b", "http://b.example/a%2F../b"),
        ("http://b.example/%2E./b", "http://b.example/%2E./b"),
        ("http://b.example", "http://b.example"), ("?q", "http://a.example/x?q"), ("x/../y", "http://a.example/y"),
        ("http://b.example/mid/content=5/../6", "http://b.example/mid/6"),
        ("http://b.example/a/b/c/./../../g", "http://b.example/a/g"),
    ])
    func `Dot segments are removed from every location`(location: String, expected: String) throws {
        #expect(RedirectPolicy().target(of: try Self.head(302, location))?.absoluteString == expected)
    }

    @Test(arguments: [
        // Its own are never used.
        ("http://a.example/x", "http://u:p@b.example/y", "http://b.example/y"),
        ("http://a.example/x", "http://u:p@a.example/y", "http://a.example/y"),
        ("http://a.example/x", "//u@a.example/y", "http://a.example/y"),
        // The request's go along within the origin only.
        ("http://u:p%40@a.example/x", "/y", "http://u:p%40@a.example/y"),
        ("http://u:p@a.example/x", "http://a.example/y", "http://u:p@a.example/y"),
        ("http://u:p@a.example/x", "http://a.example:80/y", "http://u:p@a.example:80/y"),
        ("http://u:p@a.example/x", "http://evil@a.example/y", "http://u:p@a.example/y"),
        ("http://u:p@a.example/x", "http://b.example/y", "http://b.example/y"),
        ("http://u:p@a.example/x", "http://a.example:81/y", "http://a.example:81/y"),
        ("http://u:p@a.example/x", "https://a.example/y", "https://a.example/y"),
    ])
    func `User and password are those of the request within its origin`(
        from: String, location: String, expected: String
    ) throws {
        #expect(RedirectPolicy().target(of: try Self.head(302, location, from: from))?.absoluteString == expected)
    }

    // MARK: Methods and bodies

    @Test(arguments: [301, 302, 303, 307, 308], ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"])
    func `Method and body follow RFC 9110`(status: Int, method: String) throws {
        let task = try Self.task("http://a.example/x", method, ["Content-Type": "a/b"], body: .data(Data([1])))
        let next = try Self.next(RedirectPolicy(), status, to: "/y", task)
        let keeps =
            switch status {
            case 303: false
            case 301, 302: method != "POST"
            default: true
            }
        #expect(next.request.httpMethod == (keeps || method == "HEAD" ? method : "GET"))
        #expect(next.body.isNone != keeps)
        #expect((next.request.value(forHTTPHeaderField: "Content-Type") != nil) == keeps)
        #expect(next.request.url?.absoluteString == "http://a.example/y")
    }

    @Test func `A dropped body takes its fields along`() throws {
        let fields = [
            "Content-Type", "content-length", "Content-Encoding", "Content-Language", "Content-Location",
            "Last-Modified",
            "Transfer-Encoding", "Digest", "Content-Digest", "Repr-Digest", "Expect",
        ]
        var task = try Self.task(
            "http://a.example/x", "POST", Dictionary(uniqueKeysWithValues: fields.map { ($0, "x") }),
            body: .data(Data([1])))
        task.request.setValue("kept", forHTTPHeaderField: "X-Other")
        task.request.httpBody = Data([1])
        let next = try Self.next(RedirectPolicy(), 303, to: "/y", task)
        #expect(next.request.allHTTPHeaderFields == ["X-Other": "kept"])
        #expect(next.request.httpBody == nil)
    }

    @Test func `A dropped stream is gone from the request too`() throws {
        var request = URLRequest(url: try Self.url("http://a.example/x"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data([1]))
        let next = try Self.next(RedirectPolicy(), 302, to: "/y", TransportTask(request))
        #expect(next.request.httpBodyStream == nil && next.body.isNone)
    }

    @Test(arguments: [(307, true), (308, true), (301, false), (302, false), (303, false)])
    func `A post from a one shot stream is refused where its body would be sent again`(status: Int, isRefused: Bool)
        throws
    {
        let stream = RequestBody.stream(BodyStream(reading: InputStream(data: Data([1]))))
        let task = try Self.task("http://a.example/x", "POST", body: stream)
        if isRefused {
            #expect(Self.refusal { _ = try Self.next(RedirectPolicy(), status, to: "/y", task) } == .bodyNotReplayable)
        } else {
            #expect(try Self.next(RedirectPolicy(), status, to: "/y", task).body.isNone)
        }
    }

    @Test func `A stream that can be reopened is sent again`() throws {
        let stream = RequestBody.stream(BodyStream { BodyStream.Reader { nil } })
        let next = try Self.next(RedirectPolicy(), 307, to: "/y", Self.task("http://a.example/x", "POST", body: stream))
        #expect(!next.body.isNone)
    }

    // MARK: Credentials

    private static let credentials = [
        "authorization": "a", "COOKIE": "b", "Proxy-Authorization": "c", "host": "a.example",
        "Origin": "http://a.example",
        "X-Other": "kept",
    ]

    @Test(arguments: [
        "http://b.example/y", "http://a.example:81/y", "https://a.example/y", "//b.example/y", "http://sub.a.example/y",
        "http://a.example./y",
    ])
    func `Fields of the origin are dropped when it changes`(location: String) throws {
        let next = try Self.next(to: location, Self.task("http://a.example/x", "GET", Self.credentials))
        #expect(next.request.allHTTPHeaderFields == ["X-Other": "kept"])
    }

    @Test(arguments: [
        "/y", "http://a.example/y", "http://A.EXAMPLE/y", "http://a.example:80/y", "http://u:p@a.example/y",
    ])
    func `Fields of the origin are kept within it`(location: String) throws {
        let next = try Self.next(to: location, Self.task("http://a.example/x", "GET", Self.credentials))
        #expect(next.request.allHTTPHeaderFields?.count == Self.credentials.count)
    }

    @Test func `Dropped credentials do not come back with the origin`() throws {
        let away = try Self.next(to: "http://b.example/y", Self.task("http://a.example/x", "GET", Self.credentials))
        let back = try Self.next(to: "http://a.example/z", away)
        #expect(back.request.allHTTPHeaderFields == ["X-Other": "kept"])
    }

    @Test func `Further fields can be dropped`() throws {
        let policy = RedirectPolicy(credentialFields: ["x-other", "Authorization"])
        let next = try Self.next(
            policy, to: "http://b.example/y", Self.task("http://a.example/x", "GET", Self.credentials))
        #expect(next.request.allHTTPHeaderFields == [:])
    }

    @Test(arguments: [
        "X-API-Key", "API-Key", "PRIVATE-TOKEN", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Amz-Security-Token",
        "X-Goog-Api-Key", "X-Auth-Token", "Cookie", "x-api-key", "X-Client-Secret", "X-Hub-Signature-256",
    ])
    func `A field that is known as a credential is dropped at another origin`(name: String) throws {
        let fields = [name: "secret", "Accept": "a/b", "Idempotency-Key": "k"]
        let task = try Self.task("http://a.example/x", "GET", fields)
        let kept = try Self.next(to: "http://b.example/y", task).request.allHTTPHeaderFields
        #expect(kept == ["Accept": "a/b", "Idempotency-Key": "k"])
        #expect(try Self.next(to: "/y", task).request.value(forHTTPHeaderField: name) == "secret")
    }

    // MARK: Refusals

    @Test func `From HTTPS to HTTP is refused`() throws {
        let task = try Self.task("https://a.example/x")
        #expect(Self.refusal { _ = try Self.next(to: "http://a.example/y", task) } == .insecureRedirect)
        #expect(Self.refusal { _ = try Self.next(to: "HTTP://a.example/y", task) } == .insecureRedirect)
    }

    @Test func `From HTTPS to HTTP is followed if allowed`() throws {
        let next = try Self.next(
            RedirectPolicy(allowsInsecure: true), to: "http://a.example/y",
            Self.task("https://a.example/x", "GET", Self.credentials))
        #expect(next.request.allHTTPHeaderFields == ["X-Other": "kept"])
    }

    @Test(arguments: ["ftp://a.example/y", "file://host/etc/passwd", "ws://a.example/"])
    func `Another scheme is refused`(location: String) throws {
        let task = try Self.task("http://a.example/x")
        #expect(Self.refusal { _ = try Self.next(to: location, task) } == .unsupportedScheme)
    }

    @Test func `The tenth redirect is followed and the eleventh is not`() throws {
        var task = try Self.task("http://a.example/0")
        var visited = [RedirectPolicy.Hop(task.request)]
        let policy = RedirectPolicy()
        func follow(_ number: Int) throws {
            let head = try Self.head(302, "/\(number)", from: try #require(task.request.url).absoluteString)
            task = try policy.next(after: head, to: #require(policy.target(of: head)), task: task, visited: visited)
            visited.append(RedirectPolicy.Hop(task.request))
        }
        for number in 1...10 { try follow(number) }
        #expect(Self.refusal { try follow(11) } == .tooManyRedirects)
    }

    @Test(arguments: ["/x", "http://a.example/x", "#f", "/x#f"])
    func `A redirect to itself is followed to the limit, and then is a circle`(location: String) throws {
        let policy = RedirectPolicy()
        var task = try Self.task("http://a.example/x")
        var visited = [RedirectPolicy.Hop(task.request)]
        func follow() throws {
            let head = try Self.head(302, location)
            task = try policy.next(after: head, to: #require(policy.target(of: head)), task: task, visited: visited)
            visited.append(RedirectPolicy.Hop(task.request))
        }
        for _ in 1...10 { try follow() }
        let error = #expect(throws: RequestError.self) { try follow() }
        #expect(error?.code == .redirectLoop && error?.reason == "more than 10 redirects in a loop")
    }

    @Test(arguments: [302, 303])
    func `A post that is sent to its own URL is no loop`(status: Int) throws {
        let next = try Self.next(
            RedirectPolicy(), status, to: "/x", Self.task("http://a.example/x", "POST", body: .data(Data([1]))))
        #expect(next.request.httpMethod == "GET")
    }

    @Test func `A post is repeated at its own URL with its body`() throws {
        let task = try Self.task("http://a.example/x", "POST", body: .data(Data([1])))
        let next = try Self.next(RedirectPolicy(), 307, to: "/x", task)
        #expect(next.request.httpMethod == "POST" && next.body.isReplayable)
    }

    @Test func `A refusal keeps the head and quotes nothing of it`() throws {
        let task = try Self.task("https://a.example/x")
        let error = #expect(throws: RequestError.self) {
            _ = try Self.next(to: "http://user:secret@a.example/secret?secret#secret", task)
        }
        #expect(error?.head?.status == 302)
        #expect(error?.description.contains("secret") == false)
    }

    // MARK: Origins

    @Test(arguments: [
        ("http://a.example", "http://a.example:80/x", true), ("https://a.example", "https://a.example:443", true),
        ("HTTP://A.example/x", "http://a.EXAMPLE/y?q", true), ("http://u:p@a.example", "http://a.example", true),
        ("http://a.example", "https://a.example", false), ("http://a.example", "http://a.example:8080", false),
        ("http://a.example", "http://b.example", false), ("http://[::1]/", "http://[::1]:80", true),
        ("http://a.example:443", "https://a.example:443", false),
    ])
    func `An origin is scheme host and port`(first: String, second: String, isSame: Bool) throws {
        #expect((Origin(try Self.url(first)) == Origin(try Self.url(second))) == isSame)
    }
}
