import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct EndpointTests {
    private let base = URL(string: "http://a.example/api")!

    private func target(_ endpoint: some Endpoint) throws -> String {
        let url = try endpoint.urlRequest(relativeTo: base).url
        return String(try #require(url?.absoluteString).dropFirst("http://a.example".count))
    }

    private func body(_ endpoint: some Endpoint) throws -> String? {
        try endpoint.urlRequest(relativeTo: base).httpBody.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Where parameters go

    private struct Plain: Endpoint {
        typealias Response = Data
        @Ignored var method: HTTPMethod
        let path = "x"
        var a = "1&2"
        var b: Int?
    }

    @Test(arguments: [HTTPMethod.get, .head, .delete]) func `These methods put them in the query`(_ method: HTTPMethod)
        throws
    {
        let endpoint = Plain(method: method)
        #expect(try target(endpoint) == "/api/x?a=1%262")
        #expect(try body(endpoint) == nil)
    }

    @Test(arguments: [HTTPMethod.post, .put, .patch, .query, "REPORT"])
    func `The others put them in the body`(_ method: HTTPMethod) throws {
        let endpoint = Plain(method: method)
        #expect(try target(endpoint) == "/api/x")
        #expect(try body(endpoint) == "a=1%262")
        #expect(try endpoint.urlRequest(relativeTo: base).httpMethod == method.rawValue)
    }

    private struct Placed: Endpoint {
        typealias Response = Data
        let method = HTTPMethod.post
        let path = "users/{id}/{name}"

        @Path var id: Int
        @Path("name") var userName = "a/b c"
        @Query var page: Int
        @Query("per_page") var pageSize = 20
        @Query var missing: String?
        @Field("If-Match") var tag = "\"x\""
        @Field("X-List") var list = ["a", "b"]
        @Field("X-None") var none: String? = nil
        @Body var reason: String
        @Ignored var secret: String
        var plain = true
    }

    @Test func `Wrappers put them elsewhere`() throws {
        let endpoint = Placed(id: 7, page: 2, reason: "why", secret: "s")
        #expect(try target(endpoint) == "/api/users/7/a%2Fb%20c?page=2&per_page=20")
        #expect(try body(endpoint) == "plain=1&reason=why")
        let request = try endpoint.urlRequest(relativeTo: base)
        #expect(request.value(forHTTPHeaderField: "If-Match") == "\"x\"")
        #expect(request.value(forHTTPHeaderField: "X-List") == "a, b")
        #expect(request.value(forHTTPHeaderField: "X-None") == nil)
        #expect(!String(describing: request.allHTTPHeaderFields).contains("secret"))
    }

    @Test func `A get with a wrapped property has a body`() throws {
        struct Search: Endpoint {
            typealias Response = Data
            let path = "x"
            @Body var text: String
        }
        #expect(try body(Search(text: "t")) == "text=t")
    }

    @Test func `Without parameters there is no body and no type`() throws {
        struct Ping: Endpoint {
            typealias Response = Void
            let method = HTTPMethod.post
            let path = "ping"
        }
        let request = try Ping().urlRequest(relativeTo: base)
        #expect(request.httpBody == nil && request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    // MARK: Which value wins

    private struct Layered: Endpoint {
        typealias Response = Data
        let path = "x"
        var requestObject: [String: ParameterValue]? = ["a": "object", "b": "object", "c": "object", "d": "object"]
        var parameters: [String: ParameterValue] { ["c": "parameters", "q": "parameters"] }
        var b = "property"
        var c = "property"
        @Query("q") var wrapped = "property"
    }

    @Test func `Of one name the last counts`() throws {
        #expect(try target(Layered()) == "/api/x?a=object&b=property&c=parameters&d=object&q=parameters")
    }

    @Test func `A request object may be missing`() throws {
        #expect(try target(Layered(requestObject: nil)) == "/api/x?b=property&c=parameters&q=parameters")
    }

    @Test func `A request object without members is an error`() throws {
        struct Wrong: Endpoint {
            typealias Response = Data
            let path = "x"
            var requestObject: [Int] = [1]
        }
        #expect(throws: RequestError.self) { try target(Wrong()) }
    }

    @Test func `Later parameters take the place of a wrapped one`() throws {
        struct Late: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.post
            let path = "x"
            @Query var a = 1
            var parameters: [String: ParameterValue] { ["a": 2] }
        }
        #expect(try target(Late()) == "/api/x?a=2")
        #expect(try body(Late()) == nil)
    }

    // MARK: The protocol's own names

    private struct Storing: Endpoint {
        typealias Response = Data
        typealias RequestObject = [String: String]
        var method: HTTPMethod = .get
        var path = "x"
        var fields = ["Authorization": "Bearer credential"]
        var parameters: [String: ParameterValue] = ["p": 1]
        var requestObject = ["o": "2"]
        var acceptedContentTypes = ["text/*"]
        var own = 3
    }

    @Test func `That of a stored property is no parameter`() throws {
        #expect(try target(Storing()) == "/api/x?o=2&own=3&p=1")
        #expect(try body(Storing(method: .post)) == "o=2&own=3&p=1")
    }

    @Test func `Nor if names are converted`() throws {
        struct Converted: Endpoint {
            typealias Response = Data
            let path = "x"
            var naming: ParameterNaming { .snakeCase }
            var requestObject = ["o": "2"]
            var acceptedContentTypes = ["text/*"]
            enum CodingKeys: CodingKey { case path, requestObject, acceptedContentTypes }
        }
        #expect(try target(Converted()) == "/api/x?o=2")
    }

    @Test func `Nor is that of a computed one`() throws {
        struct Computing: Endpoint {
            typealias Response = Data
            var path: String { "x" }
            var fields: [String: String] { ["Authorization": "Bearer credential"] }
            enum CodingKeys: CodingKey { case path, fields, own }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(path, forKey: .path)
                try container.encode(fields, forKey: .fields)
                try container.encode(1, forKey: .own)
            }
        }
        #expect(try target(Computing()) == "/api/x?own=1")
    }

    @Test func `A wrapped one is a parameter`() throws {
        struct Wrapping: Endpoint {
            typealias Response = Data
            let path = "x"
            @Query var fields = ["a": "b"]
            @Query("method") var shadow = "m"
        }
        #expect(try target(Wrapping()) == "/api/x?fields%5Ba%5D=b&method=m")
    }

    @Test func `Another property of such a name is an error and not lost`() {
        struct Renaming: Endpoint {
            typealias Response = Data
            var path: String { "x" }
            var folder = "f"
            enum CodingKeys: String, CodingKey { case folder = "path" }
        }
        #expect { try target(Renaming()) } throws: { "\($0)".contains("'path'") }
    }

    // MARK: Classes

    private class Base: Endpoint {
        typealias Response = Data
        var path: String { "x" }
        var a = 1
    }

    private final class Silent: Base {
        var b = 2
    }

    private final class Spoken: Base {
        var b = 2
        @Ignored var cache = 3

        enum CodingKeys: CodingKey { case b }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(b, forKey: .b)
        }
    }

    @Test func `A subclass that would lose its properties is an error that names them`() {
        #expect { try target(Silent()) } throws: { "\($0)".contains("'b'") }
    }

    @Test func `A subclass that encodes itself is none`() throws {
        #expect(try target(Spoken()) == "/api/x?a=1&b=2")
        #expect(try target(Base()) == "/api/x?a=1")
    }

    // MARK: Errors

    @Test func `What cannot be encoded is the operations failure and names the property`() async throws {
        struct Infinite: Endpoint {
            typealias Response = Data
            let path = "x?token=secret"
            var ratio = Double.infinity
        }
        let transport = ScriptedTransport([.status(200)])
        let operation = Infinite().operation(relativeTo: base, configuration: .over(transport))
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .unencodableParameter && error.stage == .process && error.underlying is EncodingError)
        #expect(error.reason?.hasPrefix("Infinite, x: 'ratio'") == true)
        #expect(transport.requests.isEmpty && error.attempts.count == 1)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\u{0}"]) func `A field has no line break`(_ value: String) {
        struct Injecting: Endpoint {
            typealias Response = Data
            let path = "x"
            @Field("X-Name") var name = ""
        }
        #expect { try target(Injecting(name: value)) } throws: { "\($0)".contains("'X-Name'") }
    }

    @Test func `A fields name is a token`() {
        struct Wrong: Endpoint {
            typealias Response = Data
            let path = "x"
            @Field("a b") var name = "v"
        }
        #expect(throws: RequestError.self) { try target(Wrong()) }
    }

    // MARK: Fields

    @Test func `Fields are set last`() throws {
        struct Overriding: Endpoint {
            typealias Response = Data
            let method = HTTPMethod.post
            let path = "x"
            let acceptedContentTypes = ["application/json", "text/*"]
            var fields: [String: String] { ["content-type": "text/plain"] }
            var a = 1
        }
        let request = try Overriding().urlRequest(relativeTo: base)
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "text/plain")
        #expect(request.value(forHTTPHeaderField: "Accept") == "application/json, text/*")
    }

    @Test func `Names of the wrappers and of coding keys are not converted`() throws {
        struct Named: Endpoint {
            typealias Response = Data
            let path = "{userID}"
            var naming: ParameterNaming { .separated(by: "-") }
            @Path var userID = 1
            @Query var pageSize = 2
            @Query("pageNumber") var number = 3
            var sortKey = 4
            var other = 5
            enum CodingKeys: String, CodingKey {
                case path, userID, pageSize, number, sortKey
                case other = "otherKey"
            }
        }
        #expect(try target(Named()) == "/api/1?otherKey=5&page-size=2&pageNumber=3&sort-key=4")
    }

    // MARK: Other encoders

    @Test func `Another encoder sees the values of wrappers`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        struct Simple: Endpoint {
            typealias Response = Data
            var path: String { "" }
            @Query("q") var text = "t"
            @Ignored var object = NSObject()
        }
        #expect(String(decoding: try encoder.encode(Simple()), as: UTF8.self) == #"{"object":null,"text":"t"}"#)
    }

    // MARK: Description

    @Test func `A description has no values`() {
        let endpoint = Placed(id: 7, page: 2, reason: "credential", secret: "credential")
        #expect(
            "\(endpoint)" == "Placed: POST users/{id}/{name}, path: id name, query: missing page per_page"
                + ", fields: If-Match X-List X-None, body: plain reason")
        #expect(String(reflecting: Storing()).contains("credential") == false)
    }
}
