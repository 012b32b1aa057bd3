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
/// **Where a property goes.** The parameters are what the type encodes: by default its stored properties. They go into the
/// query for GET, HEAD and DELETE, and into the body for other methods. A property wrapper puts a property elsewhere and
/// may give it another name: `@Path`, `@Query`, `@Header`, `@Body`. ``Ignored`` leaves it out.
///
/// **Properties of this protocol** are never parameters unless they are wrapped. That holds for stored and computed ones.
/// A stored property with such a name and another type, as `let method = "POST"`, is an error. Swift would use the
/// protocol's default in its place. A stored property with such a name in a subclass of a class that is an endpoint
/// already is an error too. Three kinds of them cannot be found, and have no effect: a computed property, one in a
/// property wrapper of your own, and one of type `Any`.
///
/// **Which value wins.** The members of ``requestObject`` come first, then the properties, then ``parameters``. If several
/// have one name, only the last counts, also if the others belong in another part of the request. Variables of the path do
/// not take part: the object of `PUT users/{id}` keeps its `id`. Two properties of one name may go to different parts of
/// the request. In the same part that is an error.
///
/// **Names** are those of `CodingKeys` or of the wrapper, else that of the property, converted by ``naming``.
///
/// **What cannot be encoded** is an error that names the property. Nothing is left out. A class must be `final` or write
/// its own `encode(to:)`. A subclass inherits the function of its superclass, which does not know its properties, and that
/// is an error too.
public protocol Endpoint: Encodable, CustomDebugStringConvertible {
    /// The type of the response's value: decodable, `Data`, `String` or `Void`, or any other with a
    /// ``responseDecoder`` of your own.
    associatedtype Response: Sendable

    /// The type of the ``requestObject``; none by default.
    associatedtype RequestObject: Encodable = NoRequestObject

    /// The method. `GET` by default.
    var method: HTTPMethod { get }

    /// The path below the base URL, whose own path is kept, or an absolute URL, which takes its place. It is a URI template
    /// (RFC 6570, level 4), as in `users/{id}/posts`: its variables are the properties wrapped in `@Path`. A query in it is
    /// kept. A fragment is part of the URL, and is not sent. Scheme and host of an absolute URL stand in it as they are: no
    /// value makes them, or a part of them.
    var path: String { get }

    /// Fields, set last: in place of any that the request would have otherwise, `Content-Type` included. None by default.
    /// A name that differs from another in case only is an error, as is a value with a line break.
    var headers: [String: String] { get }

    /// Further parameters, which win over all others; their names are not converted. None by default.
    var parameters: [String: ParameterValue] { get }

    /// A value whose members are parameters, which all others win over. None by default.
    var requestObject: RequestObject { get }

    /// How the names of properties become those of parameters. As they are declared by default.
    var naming: ParameterNaming { get }

    /// Changes the values of parameters before they are encoded. `nil`, none, by default.
    var valueTransform: ParameterTransform? { get }

    /// How parameters in the query are encoded, and single values in the path and in fields. By default the defaults of
    /// ``URLEncodedFormEncoder``, with names such as `filter[name]` allowed. Its own naming and transform do not count.
    var queryEncoder: URLEncodedFormEncoder { get }

    /// How parameters in the body are encoded. ``ParameterEncoder/form`` by default.
    var bodyEncoder: ParameterEncoder { get }

    /// Files that a body of ``ParameterEncoder/multipart`` has after its parameters. None by default; with any other
    /// encoder they are an error.
    var files: [MultipartFormData.Part] { get }

    /// The media ranges of responses that are accepted, such as `application/json`. They are sent as `Accept`, unless a
    /// field sets that. Other types fail as ``RequestError/Code/unacceptableContentType``. Any by default.
    var acceptedContentTypes: [String] { get }

    /// Makes the value of the response. By default of its type: JSON for one that is decodable, the body for `Data`, text
    /// for `String`, nothing for `Void`.
    var responseDecoder: ResponseDecoder<Response> { get }

    /// Makes an error of the body of a response whose status is refused. `nil`, none, by default.
    var errorBodyDecoder: ErrorBodyDecoder? { get }

    /// Changes the configuration of the operation: its retries, its time limits. Nothing by default.
    func configure(_ configuration: inout RequestConfiguration)
}

/// That an endpoint has no ``Endpoint/requestObject``.
public struct NoRequestObject: Encodable, Sendable {
    /// Makes the only value.
    public init() {}

    /// Encodes no member.
    public func encode(to encoder: any Encoder) throws {}
}

extension Endpoint {
    /// `GET`.
    public var method: HTTPMethod { .get }
    /// None.
    public var headers: [String: String] { [:] }
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

extension Endpoint where RequestObject == NoRequestObject {
    /// None.
    public var requestObject: NoRequestObject { NoRequestObject() }
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
    /// The request, for a transport of your own or another library.
    ///
    /// - Parameter baseURL: An absolute URL. A user and a password in it become an `Authorization` field (RFC 7617) and
    ///   leave the URL.
    /// - Throws: A ``RequestError`` of the stage `process`: ``RequestError/Code/unencodableParameter`` with the cause, or
    ///   ``RequestError/Code/badURL``. A body that is streamed, of a multipart form with parts that are not in memory, is
    ///   no part of a `URLRequest`: that is ``RequestError/Code/unsupported``.
    public func urlRequest(relativeTo baseURL: URL) throws -> URLRequest {
        let prepared = try EndpointRequest(self, relativeTo: baseURL)
        guard let request = prepared.urlRequest else {
            throw RequestError(.unsupported, stage: .process, reason: "the body is streamed")
        }
        return request
    }

    /// The operation that makes the request.
    ///
    /// The request is made of the properties as they are now, its body of files as they are when it is sent. What is wrong
    /// with it is the failure of the operation.
    ///
    /// - Parameters:
    ///   - baseURL: See ``urlRequest(relativeTo:)``.
    ///   - configuration: How the request is made. ``RequestConfiguration/default`` if not given.
    public func operation(
        relativeTo baseURL: URL, configuration: RequestConfiguration = .default
    ) -> URLRequestOperation<Response> {
        let prepared = Result { try EndpointRequest(self, relativeTo: baseURL) }
        return EndpointOperation(prepared, baseURL, responseDecoder, adjusted(configuration))
    }

    /// A configuration with what the endpoint asks for.
    func adjusted(_ configuration: RequestConfiguration) -> RequestConfiguration {
        var adjusted = configuration
        // What is no media range is the failure of the request, and not a trap.
        if !acceptedContentTypes.isEmpty, acceptedContentTypes.allSatisfy({ MediaType($0) != nil }) {
            adjusted.validation = configuration.validation.and(.contentType(acceptedContentTypes))
        }
        if let errorBodyDecoder { adjusted.errorBodyDecoder = errorBodyDecoder }
        configure(&adjusted)
        return adjusted
    }
}

extension RequestError.Code {
    /// A property or a parameter of an endpoint has no form at the place where it goes; the cause, which names it, is in
    /// ``RequestError/underlying``.
    public static let unencodableParameter = Self("unencodableParameter")
}
