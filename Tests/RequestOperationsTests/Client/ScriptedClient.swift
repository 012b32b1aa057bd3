import RequestOperations
import RequestOperationsTesting

/// A user, as a scripted server sends one.
struct User: Codable, Sendable, Equatable {
    var name: String
}

extension RequestClient {
    /// A client over a transport, which retries at once.
    convenience init(
        _ base: String? = "http://example.invalid/v1", over transport: any Transport,
        _ edit: (inout RequestConfiguration) -> Void = { _ in }
    ) {
        var configuration = RequestConfiguration.over(transport)
        configuration.hosts = HostRegistry()
        configuration.retryPolicy.backoff = .constant(.zero, jitter: .none)
        edit(&configuration)
        self.init(baseURL: base.flatMap { URL(string: $0) }, configuration: configuration)
    }
}

extension ScriptedTransport.Answer {
    static let user = body(Data(#"{"name":"Ada"}"#.utf8))
    static let users = body(Data(#"[{"name":"Ada"},{"name":"Alan"}]"#.utf8))
}

extension ScriptedTransport {
    /// The URLs of the requests so far.
    var urls: [String] { requests.map { $0.url?.absoluteString ?? "" } }
}
