import RequestOperations
import Testing

/// Properties that have a name of the protocol of endpoints and are not its own: Swift takes the default without a word.
@Suite(.timeLimit(.minutes(10))) struct ReservedPropertiesTests {
    private let base = URL(string: "http://a.example")!  // A literal that is a URL.

    private func expectProblem(_ name: String, _ endpoint: some Endpoint) {
        #expect {
            try endpoint.urlRequest(relativeTo: base)
        } throws: { error in
            (error as? RequestError)?.code == .unencodableParameter && "\(error)".contains("'\(name)'")
        }
    }

    private struct Texting: Endpoint {
        typealias Response = Data
        let path = "x"
        let method = "POST"
    }

    private struct Optionally: Endpoint {
        typealias Response = Data
        let path = "x"
        let method: HTTPMethod? = .post
    }

    @Test func `A method of another type is an error`() {
        expectProblem("method", Texting())
        expectProblem("method", Optionally())
    }

    private struct Parametrized: Endpoint {
        typealias Response = Data
        let path = "x"
        var parameters = ["a": 1]
    }

    private struct Headed: Endpoint {
        typealias Response = Data
        let path = "x"
        var fields = ["a": 1]
    }

    private struct Accepting: Endpoint {
        typealias Response = Data
        let path = "x"
        var acceptedContentTypes = "text/plain"
    }

    private struct Describing: Endpoint {
        typealias Response = Data
        let path = "x"
        var debugDescription = 1
    }

    @Test func `So are other members of another type`() {
        expectProblem("parameters", Parametrized())
        expectProblem("fields", Headed())
        expectProblem("acceptedContentTypes", Accepting())
        expectProblem("debugDescription", Describing())
    }

    private struct IgnoringMethod: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var method = "POST"
    }

    private struct IgnoringNaming: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var naming: @Sendable (String) -> String = { $0 }
    }

    private struct IgnoringTransform: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var valueTransform: @Sendable (Int) -> Int = { $0 }
    }

    private struct IgnoringQuery: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var queryEncoder = JSONEncoder()
    }

    private struct IgnoringBody: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var bodyEncoder = URLEncodedFormEncoder()
    }

    private struct IgnoringFiles: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var files: [URL] = []
    }

    private struct IgnoringDecoder: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var responseDecoder = ResponseDecoder<String>.string
    }

    private struct IgnoringErrors: Endpoint {
        typealias Response = Data
        let path = "x"
        @Ignored var errorBodyDecoder = ResponseDecoder<String>.string
    }

    private struct IgnoringObject: Endpoint {
        typealias Response = Data
        typealias RequestObject = [String: ParameterValue]
        let path = "x"
        @Ignored var requestObject = ["a": 1]
    }

    @Test func `They are so though they are ignored`() {
        expectProblem("method", IgnoringMethod())
        expectProblem("naming", IgnoringNaming())
        expectProblem("valueTransform", IgnoringTransform())
        expectProblem("queryEncoder", IgnoringQuery())
        expectProblem("bodyEncoder", IgnoringBody())
        expectProblem("files", IgnoringFiles())
        expectProblem("responseDecoder", IgnoringDecoder())
        expectProblem("errorBodyDecoder", IgnoringErrors())
        expectProblem("requestObject", IgnoringObject())
    }

    private struct LeavingOut: Endpoint {
        typealias Response = Data
        let path = "x"
        var method = "POST"
        var own = 1
        enum CodingKeys: CodingKey { case own }
    }

    @Test func `They are so though they are not encoded`() {
        expectProblem("method", LeavingOut())
    }

    private struct Placing: Endpoint {
        typealias Response = Data
        let path = "{method}"
        @Path var method = "a"
        @Query var fields = "b"
        @Field("X-Files") var files = 1
    }

    @Test func `A wrapper makes them parameters`() throws {
        let request = try Placing().urlRequest(relativeTo: base)
        #expect(request.url?.absoluteString == "http://a.example/a?fields=b")
        #expect(request.value(forHTTPHeaderField: "X-Files") == "1")
    }

    private final class Lazy: Endpoint {
        typealias Response = Data
        var path: String { "x" }
        lazy var method = HTTPMethod.put
        enum CodingKeys: CodingKey {}
        func encode(to encoder: any Encoder) throws {}
    }

    @Test func `A lazy property is one of its type`() throws {
        #expect(try Lazy().urlRequest(relativeTo: base).httpMethod == "PUT")
    }

    private enum Case: Endpoint {
        typealias Response = Data
        case files(Int)
        var path: String { "x" }
        func encode(to encoder: any Encoder) throws {}
    }

    @Test func `A case of an enumeration is no property`() throws {
        #expect(throws: Never.self) { try Case.files(1).urlRequest(relativeTo: base) }
    }

    @Test func `The next value of a type is an error too`() {
        for _ in 1...2 { expectProblem("method", Texting()) }
    }

    // MARK: What only looks like one

    private struct Backing: Endpoint {
        typealias Response = Data
        let path = "x"
        private let _method = "PUT"
        var method: HTTPMethod { _method == "PUT" ? .put : .get }
        enum CodingKeys: CodingKey {}
    }

    @Test func `The storage of a computed property may have any type`() throws {
        #expect(try Backing().urlRequest(relativeTo: base).httpMethod == "PUT")
    }

    private struct Encoding: Endpoint {
        typealias Response = Data
        private let _path: @Sendable () -> String = { "x/y" }
        var path: String { _path() }
        enum CodingKeys: CodingKey { case path }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(path, forKey: .path)
        }
    }

    @Test func `The storage of an encoded property need not be encodable`() throws {
        #expect(try Encoding().urlRequest(relativeTo: base).url?.absoluteString == "http://a.example/x/y")
    }

    @propertyWrapper private struct Mine<Value: Encodable>: Encodable {
        var wrappedValue: Value
        func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }
    }

    private struct Wrapping: Endpoint {
        typealias Response = Data
        let path = "x"
        @Mine var fields = ["X-Mine": "1"]
    }

    @Test func `A property in a wrapper of your own counts`() throws {
        let request = try Wrapping().urlRequest(relativeTo: base)
        #expect(request.value(forHTTPHeaderField: "X-Mine") == "1" && request.url?.query == nil)
    }

    private struct Mirroring: Endpoint, CustomReflectable {
        typealias Response = Data
        let path = "x"
        var method: HTTPMethod { .put }
        var customMirror: Mirror { Mirror(self, children: ["method": "PUT", "fields": "none"]) }
    }

    @Test func `A mirror of your own may show anything`() throws {
        #expect(try Mirroring().urlRequest(relativeTo: base).httpMethod == "PUT")
    }

    private class Object: Encodable {
        let a = 1
    }

    private final class PreciseObject: Object {}

    private struct Objecting: Endpoint {
        typealias Response = Data
        let path = "x"
        var requestObject: Object = PreciseObject()
    }

    @Test func `A request object may be of a subclass`() throws {
        #expect(try Objecting().urlRequest(relativeTo: base).url?.query == "a=1")
    }

    // MARK: Classes

    private class Base: Endpoint {
        typealias Response = Data
        var path: String { "x" }
        func encode(to encoder: any Encoder) throws {}
    }

    private final class Derived: Base {
        let method = HTTPMethod.post
    }

    private final class DerivedText: Base {
        let method = "POST"
    }

    private class Plain {
        let method = HTTPMethod.post
    }

    private final class Conforming: Plain, Endpoint {
        typealias Response = Data
        let path = "x"
        func encode(to encoder: any Encoder) throws {}
    }

    @Test func `A property of a subclass that is not its superclasses is an error`() {
        expectProblem("method", Derived())
        expectProblem("method", DerivedText())
    }

    @Test func `A property of a superclass that is no endpoint counts`() throws {
        #expect(try Conforming().urlRequest(relativeTo: base).httpMethod == "POST")
    }
}
