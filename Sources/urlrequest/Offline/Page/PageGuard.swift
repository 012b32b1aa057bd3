#if CommandLineTool
    import FlyingFox
    import RequestOperations

    /// Decides whether a request may use the page of a queue. Only a browser that has opened the printed address may.
    ///
    /// Other programs and other users of the machine do not know the token. A page from elsewhere in the same browser has
    /// another origin, or another host if its name was made to lead here (DNS rebinding).
    ///
    /// A browser sends a cookie to every port of a host (RFC 6265, section 8.5), but only below the path of the cookie. So all is
    /// below a random path: a browser that asks another server on 127.0.0.1 does not send it the token.
    struct PageGuard: Sendable {
        enum Verdict: Equatable {
            /// The rest of the path, after the random part.
            case allowed(path: String)
            /// The token was right. The browser gets it as a cookie, and goes to the address without it.
            case welcome(cookie: String, address: String)
            case refused(String)
        }

        /// The port that the page is served on.
        let port: UInt16
        /// Random digits that a request proves that it may use the page with.
        let token = Self.randomDigits()
        /// The path of the page, which begins and ends with a slash.
        let folder = "/\(Self.randomDigits())/"

        /// 256 random bits in hexadecimal digits.
        private static func randomDigits() -> String {
            var generator = SystemRandomNumberGenerator()
            return Data((0..<32).map { _ in generator.next() }).hexadecimal
        }

        private var host: String { "127.0.0.1:\(port)" }

        /// The address to open.
        var address: String { "http://\(host)\(folder)?token=\(token)" }

        func verdict(on request: HTTPRequest) -> Verdict {
            guard request.headers[.host] == host else { return .refused("This is not the host of the page.") }
            switch request.headers[HTTPHeader("Origin")] {
            case "http://\(host)": break
            // Browsers leave it out where nothing can be changed.
            case nil where request.method == .GET: break
            default: return .refused("The request does not come from the page.")
            }
            let stranger = Verdict.refused("Open the address that urlrequest queue serve has printed.")
            // As it was sent: the other form of the path has no slash at its end.
            let sent = request.target.path()
            guard sent.hasPrefix(folder) else { return stranger }
            let path = String(sent.dropFirst(folder.count))
            if request.method == .GET, path.isEmpty, let given = request.query["token"] {
                guard isToken(given) else { return .refused("The token is wrong.") }
                let cookie = "token=\(token); Path=\(folder); HttpOnly; SameSite=Strict"
                return .welcome(cookie: cookie, address: folder)
            }
            let cookies = request.headers[.cookie]?.split(separator: ";") ?? []
            let isKnown = cookies.contains { pair in
                let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
                return parts.count == 2 && parts[0] == "token" && isToken(parts[1])
            }
            return isKnown ? .allowed(path: path) : stranger
        }

        private func isToken(_ text: String) -> Bool {
            Data(text.utf8).isSameInConstantTime(as: Data(token.utf8))
        }
    }
#endif
