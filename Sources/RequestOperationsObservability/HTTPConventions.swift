#if Observability
    import RequestOperations

    /// The names and values of OpenTelemetry's semantic conventions for HTTP clients (version 1.27 and later).
    ///
    /// Source: https://opentelemetry.io/docs/specs/semconv/http/
    enum HTTPConvention {
        static let method = "http.request.method"
        static let status = "http.response.status_code"
        static let resends = "http.request.resend_count"
        static let errorType = "error.type"
        static let url = "url.full"
        static let address = "server.address"
        static let port = "server.port"
        static let version = "network.protocol.version"
        static let duration = "http.client.request.duration"
        static let active = "http.client.active_requests"

        /// The methods that are a value of an attribute. Any other is `_OTHER`, so that a metric has few series.
        private static let methods: Set<String> = [
            "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
        ]

        static func method(_ method: String?) -> String {
            let method = method ?? "GET"
            return methods.contains(method) ? method : "_OTHER"
        }

        /// What kind of error it is: the rejected status, the code of an error of this package, or the name of a type. `nil`
        /// without an error.
        static func errorType(_ error: (any Error)?) -> String? {
            switch error {
            case nil: nil
            case is CancellationError: "cancelled"
            case let error as RequestError:
                if let status = error.head?.status, error.code == .unacceptableStatus {
                    "\(status)"
                } else {
                    "\(error.code)"
                }
            case let error?: "\(type(of: error))"
            }
        }
    }

    /// The server that a URL names.
    struct Server: Sendable, Hashable {
        let address: String
        let port: Int

        /// `nil` for a URL without a host.
        init?(_ url: URL?) {
            guard let url, let host = url.host, !host.isEmpty else { return nil }
            address = host.lowercased()
            port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        }
    }

    extension RequestTimeline {
        /// How it failed. `nil` for a success.
        var error: (any Error)? {
            switch outcome {
            case .failed(let error): error
            case .cancelled: CancellationError()
            case .running, .succeeded: nil
            }
        }
    }

    extension Attempt {
        /// The version of HTTP, such as `1.1` or `2`. `nil` if it is not known.
        var protocolVersion: String? {
            (head?.version ?? timings?.httpVersion)?.description.replacing("HTTP/", with: "")
        }
    }
#endif
