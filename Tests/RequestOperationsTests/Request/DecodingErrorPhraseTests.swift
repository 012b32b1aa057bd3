import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct DecodingErrorPhraseTests {
    private enum Kind: String, Codable {
        case known
    }

    private struct User: Codable {
        var name: String
        var kind: Kind?
    }

    private struct Page: Codable, Sendable {
        var users: [User]
        var count: Int?
    }

    @Test(arguments: [
        (#"["s3cr3t"]"#, "another type than Dictionary<String, Any> at the top"),
        (#"{}"#, "no value for 'users' at the top"),
        (#"{"users": "s3cr3t"}"#, "another type than Array<Any> at users"),
        (#"{"users": [{"name": "a"}, {}]}"#, "no value for 'name' at users[1]"),
        (#"{"users": [{"name": 1}]}"#, "another type than String at users[0].name"),
        (#"{"users": [{"name": null}]}"#, "no value of type String at users[0].name"),
        (#"{"users": [{"name": "a", "kind": "s3cr3t"}]}"#, "a value that is not valid at users[0].kind"),
        (#"{"users": [], "count": "s3cr3t"}"#, "another type than Int at count"),
        (#"{"users": [s3cr3t"#, "the body is not in its format"),
        ("<html>s3cr3t", "the body is not in its format"),
    ])
    func `The error of an undecodable body has the coding path and no value`(body: String, reason: String) async throws
    {
        let configuration = RequestConfiguration.scripted([.body(Data(body.utf8))])
        let operation = URLRequestOperation(anyRequest, decoder: .json(Page.self), configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.code == .undecodable && error.reason == reason)
        #expect(error.description.contains(": \(reason) (") && !error.description.contains("s3cr3t"))
    }

    struct Pair: Decodable, Sendable {
        let first: Int
        let second: Int

        enum Key: CodingKey { case a }

        init(from decoder: any Decoder) throws {
            var numbers = try decoder.container(keyedBy: Key.self).nestedUnkeyedContainer(forKey: .a)
            first = try numbers.decode(Int.self)
            second = try numbers.decode(Int.self)
        }
    }

    @Test(arguments: [
        (ResponseDecoder<Pair>.json(), #"{"a":[1]}"#), (ResponseDecoder<Pair>.form(), "a=1"),
    ])
    func `An array that is too short has no value at its end`(decoder: ResponseDecoder<Pair>, body: String) async throws
    {
        let configuration = RequestConfiguration.scripted([.body(Data(body.utf8))])
        let operation = URLRequestOperation(anyRequest, decoder: decoder, configuration: configuration)
        let error = try #require(await failure(of: operation) as? RequestError)
        #expect(error.reason == "no value of type Int at a[1]")
    }

    @Test func `Of a long path the end is shown`() async throws {
        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init?(intValue: Int) { nil }
            init(stringValue: String) { self.stringValue = stringValue }
        }
        let path = (0..<100).map { Key(stringValue: "key\($0)") }
        let mismatch = DecodingError.typeMismatch(
            Int.self, DecodingError.Context(codingPath: path, debugDescription: "s3cr3t"))
        let decoder = ResponseDecoder<Int> { _ in throw mismatch }
        let operation = URLRequestOperation(
            anyRequest, decoder: decoder, configuration: .scripted([.body(Data())]))
        let reason = try #require((await failure(of: operation) as? RequestError)?.reason)
        #expect(reason.count < 250 && reason.hasSuffix(".key99"))
    }
}
