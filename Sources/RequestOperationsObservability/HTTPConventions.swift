#if Observability
    import RequestOperations

    /// The names and values of OpenTelemetry's semantic conventions for HTTP clients (version 1.27 and later).
    ///
    /// Source: https://opentelemetry.io/docs/specs/semconv/http/
    enum HTTPConvention {
        static let method = "http.request.method"
        static let originalMethod = "http.request.method_original"
        static let status = "http.response.status_code"
        static let resends = "http.request.resend_count"
        static let errorType = "error.type"
        static let url = "url.full"
        static let address = "server.address"
        static let port = "server.port"
        static let version = "network.protocol.version"
        static let duration = "http.client.request.duration"
        static let active = "http.client.active_requests"

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

    /// The method of a request as spans and metrics show it. Only a usual one is shown as it is, so that there are few series.
    struct ShownMethod {
        private static let usual: Set<String> = [
            "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
        ]

        /// The value of the attribute and the dimension.
        let value: String
        /// The name of a span.
        let name: String
        /// The method, if `value` does not show it. `nil` for an upload by tus, whose name is no method.
        let original: String?

        init(_ method: String?) {
            let method = method ?? "GET"
            let isUsual = Self.usual.contains(method)
            (value, name) = isUsual ? (method, method) : ("_OTHER", "HTTP")
            original = isUsual || method.contains(" ") ? nil : method
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
        /// What kind of failure it is. An accepted status of 400 or more is one as well. `nil` for a success.
        var errorType: String? {
            HTTPConvention.errorType(error) ?? status.flatMap { $0 >= 400 ? "\($0)" : nil }
        }

        /// The version of HTTP, such as `1.1` or `2`. `nil` if it is not known.
        var protocolVersion: String? {
            (head?.version ?? timings?.httpVersion)?.description.replacing("HTTP/", with: "")
        }
    }

    /// The attempts of one request that have ended and were taken. A pure value.
    struct EndedAttempts: Sendable {
        // A set of ranges: a request may make attempts without end.
        private var taken = IndexSet()

        /// Takes the attempts of a timeline that have ended since.
        mutating func take(from timeline: RequestTimeline) -> [Attempt] {
            let new = timeline.attempts.filter { $0.ended != nil && !taken.contains($0.number) }
            for attempt in new { taken.insert(attempt.number) }
            return new
        }
    }
#endif
