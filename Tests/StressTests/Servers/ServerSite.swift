#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import Testing

    /// A server or proxy that is not ours, and a way to it.
    struct ServerSite: Sendable, CustomTestStringConvertible {
        let program: ServerProgram
        let way: ServerProgram.Way

        var testDescription: String { "\(program.name), \(way.rawValue)" }

        /// Those of nginx, which other tests need as well, or those that `REQUEST_OPERATIONS_SERVERS` names: `all`, or the
        /// names of programs with a space between.
        static let all: [ServerSite] = {
            let names = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_SERVERS"] ?? "nginx"
            let programs = ServerProgram.all.filter {
                names == "all" || names.split(separator: " ").contains($0.name[...])
            }
            return programs.flatMap { program in program.ways.map { ServerSite(program: program, way: $0) } }
        }()
    }

    extension ServerProgram.Way {
        var isSecure: Bool {
            switch self {
            case .http1Secure, .http2, .tunnelled, .socksSecure: true
            case .http1, .http2Cleartext, .forwarded, .socks: false
            }
        }
    }

    extension ServerProgram.Ground {
        /// The port of the server that answers.
        func port(serving way: ServerProgram.Way) -> Int {
            switch way {
            case .http1, .forwarded, .socks: plain
            case .http1Secure, .http2, .tunnelled, .socksSecure: secure
            case .http2Cleartext: http2
            }
        }

        /// The port that a transport connects to.
        func port(reaching way: ServerProgram.Way) -> Int {
            way.isProxied ? proxy : port(serving: way)
        }

        /// How a transport goes that way.
        func configuration(of way: ServerProgram.Way) -> CurlTransport.Configuration {
            var configuration = CurlTransport.Configuration()
            configuration.trust.roots = .file(folder.appendingPathComponent("cert.pem"))
            configuration.proxy = .none
            // Over libcurl before 8.1, HTTP/2 has to be asked for.
            configuration.httpVersions = .http2
            // Another program may listen at the same port of `::1`.
            configuration.addressFamily = .ipv4
            switch way {
            case .http1, .http2: break
            case .http1Secure: configuration.httpVersions = .http11
            case .http2Cleartext: configuration.httpVersions = .http2PriorKnowledge
            case .forwarded, .tunnelled: configuration.proxy = proxy(scheme: "http")
            case .socks, .socksSecure: configuration.proxy = proxy(scheme: "socks5h")
            }
            return configuration
        }

        private func proxy(scheme: String) -> CurlTransport.Proxy {
            // The parts are those of a URL.
            .url(URL(string: "\(scheme)://127.0.0.1:\(proxy)")!)
        }
    }
#endif
