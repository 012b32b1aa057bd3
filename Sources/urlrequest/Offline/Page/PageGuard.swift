#if CommandLineTool
    import FlyingFox
    import RequestOperations

    /// Decides whether a request may use the page of a queue. Only a browser that has opened the printed address may.
    ///
    /// Other programs and other users of the machine do not know the token. A page from elsewhere in the same browser has another
    /// origin, or another host if its name was made to lead here (DNS rebinding).
    struct PageGuard: Sendable {
        enum Verdict: Equatable {
            case allowed
            /// The token was right. The browser gets it as a cookie, and goes to the address without it.
            case welcome(cookie: String)
            case refused(String)
        }

        /// The port that the page is served on.
        let port: UInt16
        /// 256 random bits in hexadecimal digits.
        let token: String

        /// A new token.
        static func newToken() -> String {
            var generator = SystemRandomNumberGenerator()
            return (0..<32).map { _ in
                let digits = String(generator.next() as UInt8, radix: 16)
                return digits.count < 2 ? "0" + digits : digits
            }.joined()
        }

        /// The address to open.
        var address: String { "http://127.0.0.1:\(port)/?token=\(token)" }

        /// A browser sends its cookies to all ports of a host, so the name says which port.
        private var cookie: String { "queue-\(port)" }

        func verdict(on request: HTTPRequest) -> Verdict {
            guard let host = request.headers[.host]?.lowercased(),
                host == "127.0.0.1:\(port)" || host == "localhost:\(port)"
            else { return .refused("This is not the host of the page.") }
            switch request.headers[HTTPHeader("Origin")] {
            case "http://\(host)": break
            // Browsers leave it out where nothing can be changed.
            case nil where request.method == .GET: break
            default: return .refused("The request does not come from the page.")
            }
            if request.method == .GET, request.path == "/", let given = request.query["token"] {
                guard isToken(given) else { return .refused("The token is wrong.") }
                return .welcome(cookie: "\(cookie)=\(token); Path=/; HttpOnly; SameSite=Strict")
            }
            let cookies = request.headers[.cookie]?.split(separator: ";") ?? []
            let isKnown = cookies.contains { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                return parts.count == 2 && parts[0] == cookie && isToken(parts[1])
            }
            return isKnown ? .allowed : .refused("Open the address that urlrequest queue serve has printed.")
        }

        /// The time does not depend on how much of the token is right.
        private func isToken(_ text: String) -> Bool {
            let (given, right) = (Array(text.utf8), Array(token.utf8))
            return given.count == right.count && zip(given, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
        }
    }
#endif
