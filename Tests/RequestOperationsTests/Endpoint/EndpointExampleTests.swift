import RequestOperations
import RequestOperationsTesting
import Testing

/// The examples of STNetTaskQueue, through the API of this package.
@Suite(.timeLimit(.minutes(10))) struct EndpointExampleTests {
    private struct Post: Decodable, Sendable {
        var id: Int
    }

    private struct TestPost: Endpoint {
        typealias Response = Post

        let method = HTTPMethod.post
        let path = "posts"
        var naming: ParameterNaming { .snakeCase }
        let fields = ["custom_header": "value"]
        let parameters: [String: ParameterValue] = ["other_parameter": "value"]

        var title: String
        var body: String
        var date: Date
        var userId: Int
        @Ignored var ignored: String
        var post: Post? { nil }

        var valueTransform: ParameterTransform? {
            { value, _ in (value as? Date).map(\.timeIntervalSince1970) ?? value }
        }

        func configure(_ configuration: inout RequestConfiguration) {
            configuration.retryPolicy.maximumRetries = 3
            configuration.retryPolicy.backoff = .constant(.seconds(5))
        }
    }

    @Test func `The post of its read me is sent as described there`() async throws {
        let transport = ScriptedTransport([.body(Data(#"{"id": 1}"#.utf8))])
        let task = TestPost(
            title: "Test Post Net Task Title", body: "Test Post Net Task Body",
            date: Date(timeIntervalSince1970: 1452239110.829915), userId: 1, ignored: "test")
        let base = try #require(URL(string: "http://api.example/v1/"))
        let operation = task.operation(relativeTo: base, configuration: .over(transport))
        #expect(try await run(operation).id == 1)
        let request = try #require(transport.requests.first)
        #expect(request.url?.absoluteString == "http://api.example/v1/posts" && request.httpMethod == "POST")
        #expect(request.value(forHTTPHeaderField: "custom_header") == "value")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/x-www-form-urlencoded")
        let body = String(decoding: try #require(request.httpBody), as: UTF8.self)
        #expect(
            body == "body=Test%20Post%20Net%20Task%20Body&date=1452239110.829915&other_parameter=value"
                + "&title=Test%20Post%20Net%20Task%20Title&user_id=1")
        #expect(operation.configuration.retryPolicy.maximumRetries == 3)
    }

    private struct Location: Encodable {
        var lat: String
        var lon: String
        var userInfo: String
        @Ignored var ignoredValue: Int
        var readOnlyProperty: Bool { true }
    }

    private struct OpenWeather: Endpoint {
        typealias Response = Data

        let path = "data/2.5/weather"
        var naming: ParameterNaming { .snakeCase }
        let fields = ["custom_header": "value"]
        let parameters: [String: ParameterValue] = ["other_parameter": "value"]

        var requestObject: Location
        var lat: String
        var lon: String
        var place: String? { nil }
        var temperature: Float? { nil }
    }

    @Test func `The properties of its request object are overwritten`() throws {
        let location = Location(
            lat: "this value is going to be overwritten", lon: "this value is going to be overwritten",
            userInfo: "user info", ignoredValue: 1)
        let task = OpenWeather(requestObject: location, lat: "1.306038", lon: "103.772962")
        let request = try task.urlRequest(relativeTo: #require(URL(string: "http://api.openweathermap.org")))
        #expect(
            request.url?.absoluteString == "http://api.openweathermap.org/data/2.5/weather"
                + "?lat=1.306038&lon=103.772962&other_parameter=value&user_info=user%20info")
        #expect(request.httpMethod == "GET" && request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "custom_header") == "value")
    }
}
