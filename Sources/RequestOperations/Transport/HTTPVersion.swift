/// A version of HTTP.
public struct HTTPVersion: Hashable, Sendable, CustomStringConvertible {
    /// The digit before the point.
    public let major: Int
    /// The digit after the point.
    public let minor: Int

    /// Makes a version. HTTP/1.1 has a major of 1 and a minor of 1.
    public init(major: Int, minor: Int) {
        self.major = major
        self.minor = minor
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// HTTP/1.0.
    public static let http1_0 = HTTPVersion(major: 1, minor: 0)
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// HTTP/1.1 (RFC 9112).
    public static let http1_1 = HTTPVersion(major: 1, minor: 1)
    /// HTTP/2 (RFC 9113).
    public static let http2 = HTTPVersion(major: 2, minor: 0)
    /// HTTP/3 (RFC 9114).
    public static let http3 = HTTPVersion(major: 3, minor: 0)

    /// The name of the version, such as `HTTP/1.1` or `HTTP/2`.
    public var description: String { major >= 2 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
}
