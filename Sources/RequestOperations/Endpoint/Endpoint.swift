/// A request described by the properties of a type. They become its parameters, and its response has a type.
///
/// ```swift
/// struct CreatePost: Endpoint {
///     typealias Response = Post
///     let method = HTTPMethod.post
///     let path = "posts"
///
///     var title: String
///     var text: String
/// }
/// let operation = CreatePost(title: "Hello", text: "World").operation(relativeTo: baseURL)
/// ```
///
/// **Where a property goes.** The parameters are what the type encodes: by default its stored properties. They go into
/// the query for GET, HEAD and DELETE, and into the body for other methods. A property wrapper puts a property
/// elsewhere and may give it another name: `@Path`, `@Query`, `@Field`, `@Body`. ``Ignored`` leaves it out.
///
/// **Properties of this protocol**, stored or computed, are not parameters unless they are wrapped. A stored property
/// with such a name but another type, such as `let method = "POST"`, is an error. Swift would use the protocol's
/// default instead. If a class is an endpoint, a stored property with such a name in a subclass is an error too. Three
/// kinds cannot be detected and have no effect: computed properties, properties in your own wrapper, and properties of
/// type `Any`.
///
/// **Which value wins.** The members of ``requestObject`` come first, then the properties, then ``parameters``. If
/// several have the same name, only the last one is sent, even if the others belong in another part of the request.
/// Path variables are an exception: the object of `PUT users/{id}` keeps its `id`. Two properties with the same name
/// may go to different parts of the request. In the same part they are an error.
///
/// **Names** come from `CodingKeys` or the wrapper. Otherwise ``naming`` converts the name of the property.
///
/// **A value that cannot be encoded** is an error that names the property. No value is left out silently. A class must
/// be `final` or write its own `encode(to:)`. A subclass inherits that function from its superclass, which does not
/// know the subclass's properties. That is an error too.
public protocol Endpoint: Encodable, CustomDebugStringConvertible {
    /// The type of the response's value: a decodable type, `Data`, `String` or `Void`. Any other type needs your own
    /// ``responseDecoder``.
    associatedtype Response: Sendable

    /// The type of the ``requestObject``.
    associatedtype RequestObject: Encodable = [String: ParameterValue]

    /// The method. `GET` by default.
    var method: HTTPMethod { get }

    /// The path below the base URL, or an absolute URL, which replaces the base URL.
    ///
    /// The path of the base URL is kept. The value is a URI template (RFC 6570, level 4), such as `users/{id}/posts`.
    /// Its variables are the properties wrapped in `@Path`. A query in it is kept. A fragment is part of the URL, but
    /// is not sent. The template itself must contain the whole scheme and host of an absolute URL. A variable cannot
    /// supply them or a part of them.
    var path: String { get }

    /// Header fields, set last. They replace any other field of the same name, including `Content-Type`. None by
    /// default. Two names that differ only in case are an error, and so is a value with a line break.
    var fields: [String: String] { get }

    /// Further parameters. They win over all others, and their names are not converted. None by default.
    var parameters: [String: ParameterValue] { get }

    /// A value whose members are parameters. All other parameters win over them. None by default.
    var requestObject: RequestObject { get }

    /// How the names of properties become the names of parameters. By default they stay as declared.
    var naming: ParameterNaming { get }

    /// Changes the values of parameters before they are encoded. `nil` by default: no change.
    var valueTransform: ParameterTransform? { get }

    /// How parameters in the query are encoded, and single values in the path and in header fields.
    ///
    /// By default the encoder has the defaults of ``URLEncodedFormEncoder``, and also allows names such as
    /// `filter[name]`. The encoder's own naming and transform are ignored.
    var queryEncoder: URLEncodedFormEncoder { get }

    /// How parameters in the body are encoded. ``ParameterEncoder/form`` by default.
    var bodyEncoder: ParameterEncoder { get }

    /// Files that follow the parameters in a body of ``ParameterEncoder/multipart``. None by default. With any other
    /// encoder they are an error.
    var files: [MultipartFormData.Part] { get }

    /// The media ranges of responses that are accepted, such as `application/json`. Any by default.
    ///
    /// They are sent as `Accept`, unless a header field sets that. Other types fail as
    /// ``RequestError/Code/unacceptableContentType``.
    var acceptedContentTypes: [String] { get }

    /// Makes the value of the response. The default depends on its type: JSON for a decodable type, the body for
    /// `Data`, text for `String`, nothing for `Void`.
    var responseDecoder: ResponseDecoder<Response> { get }

    /// Makes an error from the body of a response whose status is rejected. `nil` by default: no such error.
    var errorBodyDecoder: ErrorBodyDecoder? { get }

    /// Changes the configuration of the operation, such as its retries or time limits. By default it changes nothing.
    func configure(_ configuration: inout RequestConfiguration)
}

extension Endpoint {
    /// `GET`.
    public var method: HTTPMethod { .get }
    /// None.
    public var fields: [String: String] { [:] }
    /// None.
    public var parameters: [String: ParameterValue] { [:] }
    /// As they are declared.
    public var naming: ParameterNaming { .asDeclared }
    /// None.
    public var valueTransform: ParameterTransform? { nil }
    /// The defaults, with names such as `filter[name]` allowed.
    public var queryEncoder: URLEncodedFormEncoder { .lenient }
    /// A form.
    public var bodyEncoder: ParameterEncoder { .form }
    /// None.
    public var files: [MultipartFormData.Part] { [] }
    /// Any.
    public var acceptedContentTypes: [String] { [] }
    /// None.
    public var errorBodyDecoder: ErrorBodyDecoder? { nil }
    /// Changes nothing.
    public func configure(_ configuration: inout RequestConfiguration) {}
}

extension Endpoint where RequestObject == [String: ParameterValue] {
    /// None.
    public var requestObject: [String: ParameterValue] { [:] }
}

extension Endpoint where Response: Decodable {
    /// JSON.
    public var responseDecoder: ResponseDecoder<Response> { .json() }
}

extension Endpoint where Response == Data {
    /// The body.
    public var responseDecoder: ResponseDecoder<Data> { .data }
}

extension Endpoint where Response == String {
    /// Text in the charset of the response.
    public var responseDecoder: ResponseDecoder<String> { .string }
}

extension Endpoint where Response == Void {
    /// Nothing.
    public var responseDecoder: ResponseDecoder<Void> { .void }
}

extension Endpoint {
    /// The request, for your own transport or for another library.
    ///
    /// - Parameter baseURL: An absolute URL. A user and a password in it become an `Authorization` field (RFC 7617) and
    ///   are removed from the URL.
    /// - Throws: A ``RequestError`` of the stage `process`: ``RequestError/Code/unencodableParameter`` with the cause,
    ///   or ``RequestError/Code/badURL``. A multipart form with parts that are not in memory has a streamed body. A
    ///   `URLRequest` cannot hold such a body, so the error is ``RequestError/Code/unsupported``.
    public func urlRequest(relativeTo baseURL: URL) throws -> URLRequest {
        let prepared = try EndpointRequest(self, relativeTo: baseURL)
        guard prepared.makeBody == nil else {
            throw RequestError(.unsupported, stage: .process, reason: "the body is streamed")
        }
        return prepared.request
    }

    /// The request as a command for the program curl; see `URLRequest.curlCommand`.
    ///
    /// The command reads a multipart body with files from the standard input.
    ///
    /// - Parameters:
    ///   - baseURL: See ``urlRequest(relativeTo:)``.
    ///   - redaction: What is left out. ``Redaction/default`` if not given; `nil` leaves nothing out.
    /// - Throws: See ``urlRequest(relativeTo:)``.
    public func curlCommand(relativeTo baseURL: URL, redaction: Redaction? = .default) throws -> String {
        let prepared = try EndpointRequest(self, relativeTo: baseURL)
        let body = try prepared.makeBody?() ?? RequestBody(of: prepared.request)
        return CurlCommand(prepared.request, redaction: redaction).text(body: body)
    }

    /// The operation that makes the request.
    ///
    /// The request uses the values that the properties have now. Files are read when the request is sent. If the
    /// request cannot be made, the operation fails with the reason.
    ///
    /// - Parameters:
    ///   - baseURL: See ``urlRequest(relativeTo:)``.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public func operation(
        relativeTo baseURL: URL, configuration: RequestConfiguration = .default
    ) -> URLRequestOperation<Response> {
        let prepared = Result { try EndpointRequest(self, relativeTo: baseURL) }
        return EndpointOperation(
            prepared, orFailingAs: .placeholder(method, relativeTo: baseURL), responseDecoder, adjusted(configuration))
    }

    /// The configuration, with the changes that the endpoint makes to it.
    func adjusted(_ configuration: RequestConfiguration) -> RequestConfiguration {
        var adjusted = configuration
        // An invalid media range makes the request fail. It must not trap here.
        if !acceptedContentTypes.isEmpty, acceptedContentTypes.allSatisfy({ MediaType($0) != nil }) {
            adjusted.validation = configuration.validation.and(.contentType(acceptedContentTypes))
        }
        if let errorBodyDecoder { adjusted.errorBodyDecoder = errorBodyDecoder }
        configure(&adjusted)
        return adjusted
    }
}

extension RequestError.Code {
    /// A property or parameter of an endpoint cannot be encoded in its part of the request.
    ///
    /// The cause is in ``RequestError/underlying`` and names the property.
    public static let unencodableParameter = Self("unencodableParameter")
}

extension Endpoint {
    /// One line: the type, the method, the path and the names of the parameters, without any values.
    ///
    /// `print` and the debugger show this line, so a credential in a property does not get into a log.
    public var debugDescription: String {
        var line = "\(Self.self): \(method.rawValue) \(Redaction.default.location(path))"
        guard let parameters = try? EndpointParameters(of: self) else { return line + " (cannot be encoded)" }
        let parts = [
            ("path", parameters.path), ("query", parameters.query), ("fields", parameters.fields),
            ("body", parameters.body),
        ]
        for (name, record) in parts where !record.members.isEmpty {
            line += ", \(name): " + record.members.map(\.name).sorted().joined(separator: " ")
        }
        return line
    }
}

extension Redaction {
    /// A path or URL without user, password and query.
    fileprivate func location(_ path: String) -> String {
        let reference = URLReference(path)
        let location = reference.location
        // Without a user, the location is shown as written. A URL would escape the template in it.
        guard location.utf8.contains(UInt8(ascii: "@")) else { return location }
        // Text that is not a URL may have a password anywhere.
        guard URL(string: location) != nil else { return Self.mark }
        return reference.location(withUserAs: Self.mark + "@")
    }
}

/// The operation of an endpoint. Its body may be one that a `URLRequest` cannot hold.
// Unchecked for the same reason as the superclass: the state of this class never changes.
final class EndpointOperation<Value: Sendable>: URLRequestOperation<Value>, @unchecked Sendable {
    private let prepared: Result<EndpointRequest, any Error>

    init(
        _ prepared: Result<EndpointRequest, any Error>, orFailingAs placeholder: @autoclosure () -> URLRequest,
        _ decoder: ResponseDecoder<Value>, _ configuration: RequestConfiguration
    ) {
        self.prepared = prepared
        let request = (try? prepared.get())?.request ?? placeholder()
        super.init(request, decoder: decoder, configuration: configuration)
    }

    override var isProcessedByAdapters: Bool { true }

    override func process(_ request: URLRequest) async throws -> URLRequest {
        // A problem with the endpoint is thrown here, so that the failure has a stage.
        _ = try prepared.get()
        return try await super.process(request)
    }

    override func makeTask(for request: URLRequest) async throws -> TransportTask {
        guard let makeBody = try prepared.get().makeBody else { return try await super.makeTask(for: request) }
        // The body is made for each attempt. A file that an earlier operation wrote has its final size only now.
        return .upload(request, from: try makeBody())
    }
}

/// A request of a path and parameters, as an endpoint.
struct PlainEndpoint: Endpoint {
    typealias Response = Void

    let method: HTTPMethod
    let path: String
    let requestObject: ParameterValue
    let parameters: [String: ParameterValue]
    var fields: [String: String] { [:] }
    let bodyEncoder: ParameterEncoder
    let files: [MultipartFormData.Part]

    func encode(to encoder: any Encoder) throws {
        // Everything is in the properties of the protocol.
        _ = encoder.container(keyedBy: ParameterKey.self)
    }
}

extension OperationQueue {
    /// The pages of the resource that an endpoint describes.
    ///
    /// - Parameters:
    ///   - endpoint: The request of the first page. Its body cannot be a stream.
    ///   - baseURL: See ``Endpoint/urlRequest(relativeTo:)``.
    ///   - configuration: How the requests are made. ``RequestConfiguration/default`` if not given.
    /// - Throws: See ``Endpoint/urlRequest(relativeTo:)``.
    public func pages<Subject: Endpoint>(
        of endpoint: Subject, relativeTo baseURL: URL, configuration: RequestConfiguration = .default
    ) throws -> Pages<Subject.Response> {
        pages(
            of: try endpoint.urlRequest(relativeTo: baseURL), decoder: endpoint.responseDecoder,
            configuration: endpoint.adjusted(configuration))
    }
}
