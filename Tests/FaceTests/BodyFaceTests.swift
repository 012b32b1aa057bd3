import RequestOperations
import Testing

/// The public face of endpoints, parameters and bodies, as code that must compile.
@Suite(.timeLimit(.minutes(10))) struct BodyFaceTests {
    private let url = URL(string: "http://example.invalid/users/1")!

    @Test func endpoints() throws {
        struct User: Decodable, Sendable {
            var name: String
        }
        struct Fetch: Endpoint {
            typealias Response = User
            let path = "users/{id}"
            @Path var id: Int
            @Query("per_page") var pageSize = 20
            @Field("X-Tag") var tag: String? = nil
            @Body var note: String?
            @Ignored var cache: String? = nil
        }
        let endpoint = Fetch(id: 1)
        let encodable: any Encodable = endpoint
        let plain: URLRequestOperation<User> = endpoint.operation(relativeTo: url)
        let configured: URLRequestOperation<User> = endpoint.operation(relativeTo: url, configuration: .default)
        let request: URLRequest = try endpoint.urlRequest(relativeTo: url)
        let command: String = try endpoint.curlCommand(relativeTo: url)
        let method: HTTPMethod = endpoint.method
        #expect(encodable is Fetch && !plain.isFinished && !configured.isFinished && method == .get)
        #expect(request.url != nil && command.hasPrefix("curl"))
        #expect(request.curlCommand(redaction: nil) == request.curlCommand(redaction: .default))
    }

    @Test func forms() throws {
        var encoder = URLEncodedFormEncoder()
        encoder.arrays = .brackets
        encoder.nesting = .dots
        encoder.booleans = .literal
        encoder.dates = .secondsSince1970
        encoder.data = .base64
        encoder.nils = .null
        encoder.spaces = .plus
        encoder.characters = .whatwg
        encoder.lineBreaks = .normalized
        encoder.sortsKeys = false
        encoder.naming = .snakeCase
        encoder.transform = { value, _ in value }
        let text: String = try encoder.encode(["userIDs": [1]])
        let data: Data = try URLEncodedFormEncoder.whatwg.encodeData(["a": 1])
        var decoder = URLEncodedFormDecoder()
        decoder.nesting = .brackets
        #expect(text == "userIDs%5B%5D=1")
        #expect(try decoder.decode([String: Int].self, from: data) == ["a": 1])
        let names: [ParameterNaming] = [.asDeclared, .snakeCase, .separated(by: "-"), .custom { $0 }]
        #expect(names.map { $0.name(for: "userID") } == ["userID", "user_id", "user-id", "userID"])
        let parameters: [String: ParameterValue] = ["a": "b", "c": 1, "d": [true, nil], "e": ["f": 0.5]]
        #expect(parameters.count == 4)
    }

    @Test func bodies() throws {
        let encoders: [ParameterEncoder] = [
            .form, .form(.whatwg), .json, .json { JSONEncoder() }, .propertyList, .multipart,
            ParameterEncoder(contentType: "a/b") { try JSONEncoder().encode($0) },
        ]
        #expect(encoders.count == 7)
        var form = MultipartFormData()
        form.append("value", name: "text")
        form.append(Data(), name: "data", fileName: "a.png", contentType: "image/png")
        form.append(MultipartFormData.Part.file(url, name: "file"))
        let type: String = form.contentType
        #expect(form.parts.count == 3 && type.contains(form.boundary))
        let body: RequestBody = try MultipartFormData().body()
        #expect(body.isReplayable)
    }

    @Test func `Other responses`() throws {
        _ = ResponseDecoder<[String: String]>.form()
        _ = ResponseDecoder<[String: String]>.byContentType()
        _ = ResponseDecoder<String>.byContentType(["text/*": .string], otherwise: nil)
        let tree: XMLTree = try XMLTree(parsing: Data("<a/>".utf8))
        _ = ResponseDecoder<XMLTree>.xml
        let head = ResponseHead(status: 200, url: url, fields: [(name: "Link", value: "<2>; rel=next")])
        let link: Link? = head.link("next")
        let links: [Link] = head.links
        #expect(tree.name == "a" && link == links.first)
        var configuration = RequestConfiguration()
        configuration.errorBodyDecoder = ErrorBodyDecoder { (_: ResponseHead, _: Data) in nil }
        let pages: Pages<Data> = OperationQueue().pages(
            of: URLRequest(url: url), decoder: .data, configuration: configuration)
        _ = pages.makeAsyncIterator()
    }
}
