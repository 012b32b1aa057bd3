/// The method of a request (RFC 9110, section 9). You can add methods of your own.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, Encodable, ExpressibleByStringLiteral {
    /// The method as it is sent. Methods are case-sensitive.
    public let rawValue: String

    /// Makes a method from its name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Makes a method from its name.
    public init(stringLiteral name: String) {
        self.init(rawValue: name)
    }

    /// `GET`.
    public static let get: HTTPMethod = "GET"
    /// `HEAD`.
    public static let head: HTTPMethod = "HEAD"
    /// `POST`.
    public static let post: HTTPMethod = "POST"
    /// `PUT`.
    public static let put: HTTPMethod = "PUT"
    /// `PATCH` (RFC 5789).
    public static let patch: HTTPMethod = "PATCH"
    /// `DELETE`.
    public static let delete: HTTPMethod = "DELETE"
    /// `OPTIONS`.
    public static let options: HTTPMethod = "OPTIONS"
    /// `QUERY`: safe and idempotent like `GET`, but with a body (draft-ietf-httpbis-safe-method-w-body).
    public static let query: HTTPMethod = "QUERY"
}
