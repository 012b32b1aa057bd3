import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(10))) struct EndpointURLTests {
    private struct Located: Endpoint {
        typealias Response = Data
        var path: String
        @Query var q: String?
    }

    private func url(_ base: String, _ path: String, _ query: String? = nil) throws -> String {
        let base = try #require(URL(string: base))
        return try #require(try Located(path: path, q: query).urlRequest(relativeTo: base).url?.absoluteString)
    }

    @Test(arguments: [
        ("http://a.example/api", "/user/x", "http://a.example/api/user/x"),
        ("http://a.example/api", "user/x", "http://a.example/api/user/x"),
        ("http://a.example/api/", "/user/x", "http://a.example/api/user/x"),
        ("http://a.example/api/", "user/x/", "http://a.example/api/user/x/"),
        ("http://a.example", "user", "http://a.example/user"),
        ("http://a.example/api", "", "http://a.example/api"),
        ("http://a.example/api/", "", "http://a.example/api/"),
        ("http://a.example/a%2Fb", "c", "http://a.example/a%2Fb/c"),
        ("http://a.example/api", "user:1/x", "http://a.example/api/user:1/x"),
        ("http://a.example/api", "ü x", "http://a.example/api/%C3%BC%20x"),
        ("http://[::1]:8080/api", "x", "http://[::1]:8080/api/x"),
    ])
    func `Paths are joined`(_ base: String, _ path: String, _ expected: String) throws {
        #expect(try url(base, path) == expected)
    }

    @Test func `An absolute URL takes the place of the base`() throws {
        #expect(try url("http://a.example/api?k=1", "https://b.example/x?a=1", "2") == "https://b.example/x?a=1&q=2")
    }

    @Test func `Queries of base and path are kept`() throws {
        #expect(try url("http://a.example/api?k=1", "x?a=1#part", "2") == "http://a.example/api/x?k=1&a=1&q=2#part")
    }

    @Test(arguments: [
        ("x#part", "http://a.example/api/x?q=2#part"), ("x#a?b#c", "http://a.example/api/x?q=2#a?b%23c"),
        ("#ä b", "http://a.example/api?q=2#%C3%A4%20b"), ("x#", "http://a.example/api/x?q=2#"),
        ("http://b.example/x?a=1#part", "http://b.example/x?a=1&q=2#part"),
    ])
    func `A fragment of the path is kept behind the query`(_ path: String, _ expected: String) throws {
        #expect(try url("http://a.example/api", path, "2") == expected)
    }

    @Test func `The fragment of the base is none of the request`() throws {
        #expect(try url("http://a.example/api#base", "x") == "http://a.example/api/x")
    }

    @Test(arguments: ["//b.example/x", "//"]) func `A path that names a host is an error`(_ path: String) {
        #expect(throws: RequestError.self) { try url("http://a.example", path) }
    }

    @Test func `A base that is not absolute is an error`() {
        #expect(throws: RequestError.self) { try url("api", "x") }
    }

    @Test func `User and password become a field and leave the URL`() throws {
        let base = try #require(URL(string: "http://us%40er:p%3Ass@a.example/api"))
        let request = try Located(path: "x").urlRequest(relativeTo: base)
        #expect(request.url?.absoluteString == "http://a.example/api/x")
        let credentials = Data("us@er:p:ss".utf8).base64EncodedString()
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Basic \(credentials)")
    }

    private struct User: Endpoint {
        typealias Response = Data
        var path: String
        @Path var id: String
    }

    @Test(arguments: [
        ("users{#id}", "a/b", "http://a.example/users#a/b"), ("users{#id}", "ü#x", "http://a.example/users#%C3%BC%23x"),
        ("users?k=1{#id}", "a?b", "http://a.example/users?k=1#a?b"),
        ("users#{id}", "a/b", "http://a.example/users#a%2Fb"),
        ("https://b.example{#id}", "x", "https://b.example#x"),
    ])
    func `A fragment that a template makes is kept`(_ template: String, _ id: String, _ expected: String) throws {
        #expect(try user(id, template) == expected)
    }

    private func user(_ id: String, _ template: String = "users/{id}/posts") throws -> String {
        let base = try #require(URL(string: "http://a.example"))
        return try #require(try User(path: template, id: id).urlRequest(relativeTo: base).url?.absoluteString)
    }

    @Test func `A value stays in its segment`() throws {
        #expect(try user("a/b?c#d%2F") == "http://a.example/users/a%2Fb%3Fc%23d%252F/posts")
    }

    @Test(arguments: ["..", "."]) func `A value that leads elsewhere is an error`(_ id: String) {
        #expect { try user(id) } throws: { "\($0)".contains("'..'") }
        #expect(throws: RequestError.self) { try user("x/\(id)/y", "users/{+id}") }
        #expect(throws: RequestError.self) { try user("%2e%2E", "users/{+id}") }
    }

    @Test func `The template may lead elsewhere`() throws {
        #expect(try user("1", "a/./{id}.json") == "http://a.example/a/./1.json")
    }

    @Test(arguments: [
        ("posts?filter[a]=1", "http://a.example/posts?filter%5Ba%5D=1&q=a%20b%26c"),
        ("a[1]/x%20y", "http://a.example/a%5B1%5D/x%20y?q=a%20b%26c"),
        ("100%?a=50%", "http://a.example/100%25?a=50%25&q=a%20b%26c"),
        ("https://[::1]:80/a[1]", "https://[::1]:80/a%5B1%5D?q=a%20b%26c"),
    ])
    func `What a part cannot hold is escaped and nothing twice`(_ path: String, _ expected: String) throws {
        #expect(try url("http://a.example", path, "a b&c") == expected)
    }

    @Test func `A bracket in a reserved expansion is escaped once`() throws {
        #expect(try user("x[1]%20y", "users/{+id}") == "http://a.example/users/x%5B1%5D%20y")
    }

    @Test(arguments: [
        ("https://evil.example/x", "{+id}"), ("//evil.example", "{+id}"), ("s", "http{+id}://evil.example"),
        ("evil.example", "https://{id}/x"), ("evil.example", "https://a.example{+id}"),
        ("@evil.example", "https://a.example{+id}"), (":80", "https://a.example{id}"),
    ])
    func `No value chooses the host`(_ value: String, _ template: String) {
        #expect(throws: RequestError.self) { try user(value, template) }
    }

    @Test func `The template may name a host`() throws {
        #expect(try user("1", "https://b.example/{id}") == "https://b.example/1")
        #expect(try user("1", "https://b.example{/id}") == "https://b.example/1")
        #expect(try user("1", "https://b.example{?id}") == "https://b.example?id=1")
    }

    @Test(arguments: ["users/{id}", "users/{id}/posts", "users/{+id}", "users{/id}"])
    func `An empty value leaves no segment empty`(_ template: String) {
        #expect(throws: RequestError.self) { try user("", template) }
    }

    @Test(arguments: [("file{id}", "/file"), ("a//{id}x", "/a//x"), ("a{?id}", "/a?id=")])
    func `An empty value elsewhere is none`(_ template: String, _ expected: String) throws {
        #expect(try user("", template) == "http://a.example" + expected)
    }

    @Test func `A variable that is not defined leaves no segment empty`() throws {
        struct Member: Endpoint {
            typealias Response = Data
            var path: String
            @Path var id: Int?
        }
        let base = try #require(URL(string: "http://a.example"))
        #expect(throws: RequestError.self) { try Member(path: "users/{id}").urlRequest(relativeTo: base) }
        let request = try Member(path: "users{/id}").urlRequest(relativeTo: base)
        #expect(request.url?.absoluteString == "http://a.example/users")
    }

    @Test func `A user with a colon is an error`() throws {
        #expect { try url("http://us%3Aer:p@a.example", "x") } throws: { ($0 as? RequestError)?.code == .badURL }
    }

    @Test func `A variable without a property is an error that names it`() {
        #expect { try user("1", "users/{id}/{name}") } throws: { "\($0)".contains("{name}") }
    }

    @Test func `A property without a variable is an error that names it`() {
        #expect { try user("1", "users") } throws: { "\($0)".contains("'id'") }
    }

    @Test(arguments: ["{id", "id}", "{}", "{id:0}", "{id:10000}", "{!id}", "{id**}", "{i d}", "{.}", "{{id}}"])
    func `A template that is none is an error`(_ template: String) {
        #expect(throws: RequestError.self) { try user("1", template) }
    }
}
