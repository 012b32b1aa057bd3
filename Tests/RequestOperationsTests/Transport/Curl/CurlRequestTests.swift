#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct CurlRequestTests {
        private func host(_ location: String) throws -> String? {
            let head = ResponseHead(
                status: 302, url: try #require(URL(string: "http://b.example/")), fields: [("Location", location)])
            let url = try #require(RedirectPolicy().target(of: head))
            return try CurlRequest(URLRequest(url: url)).url.host
        }

        @Test(arguments: [
            ("http://%41.com/", "A.com"), ("http://a%2ecom/", "a.com"),
            ("http://\u{FF05}\u{FF14}\u{FF11}.com/", "A.com"),
            ("http://b%C3%BCcher.example/x", "xn--bcher-kva.example"),
            ("http://b\u{FC}cher.example/", "xn--bcher-kva.example"), ("http://\u{FF41}.com/", "a.com"),
            ("http://a%EF%BC%8Ecom/", "a.com"), ("http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/", "127.0.0.1"),
            ("http://[fe80::1%25eth0]/", "fe80::1%eth0"),
        ])
        func `The host of a request is the one that is asked`(_ location: String, _ host: String) throws {
            #expect(try self.host(location) == host)
        }

        @Test(arguments: [
            "http://%EF%BC%85%EF%BC%94%EF%BC%91.com/", "http://a%25.com/",
            "http://a%2Fb/",
            "http://a%40b/", "http://a%00b/", "http://a%20b/", "http://a%3A80/",
        ])
        func `A host that is none after decoding is badURL`(_ location: String) throws {
            let error = #expect(throws: RequestError.self) { try host(location) }
            #expect(error?.code == .badURL)
        }

        @Test(arguments: ["http://[::%31]/", "http://[::%2531]/", "http://[::1%31]/"])
        func `The zone of an address is no part of it`(_ location: String) throws {
            // A URL that Foundation does not take is no redirect.
            let head = ResponseHead(
                status: 302, url: try #require(URL(string: "http://b.example/")), fields: [("Location", location)])
            guard let url = RedirectPolicy().target(of: head) else { return }
            let known = (try? CurlRequest(URLRequest(url: url)))?.url.host
            #expect(known?.contains("%") ?? true)
        }

        private func request(_ text: String, method: String = "GET", fields: [String: String] = [:]) throws
            -> CurlRequest
        {
            var request = URLRequest(url: try #require(URL(string: text)))
            request.httpMethod = method
            for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
            return try CurlRequest(request)
        }

        private func code(_ body: () throws -> CurlRequest) -> RequestError.Code? {
            do {
                _ = try body()
                return nil
            } catch {
                return (error as? RequestError)?.code
            }
        }

        @Test(arguments: [
            "http://127.0.0.1/", "http://127.0.0.1:8080", "https://[::1]:8080/a", "http://user:pass@10.0.0.1/",
        ])
        func `An address is not looked up`(text: String) throws {
            #expect(try !request(text).hasName)
        }

        @Test(arguments: [
            "http://example.com", "https://example.com:8443/a?b", "http://user:pass@example.com/@",
            "HTTPS://example.com#a", "http://1.example:/",
        ])
        func `A name is looked up`(text: String) throws {
            #expect(try request(text).hasName)
        }

        @Test(arguments: ["http:///path", "http://:80/", "/path", "https:", "http:path"])
        func `A URL without a host is badURL`(text: String) {
            #expect(code { try request(text) } == .badURL)
        }

        @Test func `A URL that libcurl would not take is badURL`() {
            #expect(code { try request("http://example.com/" + String(repeating: "a", count: 8_000_000)) } == .badURL)
        }

        @Test(arguments: ["ftp://example.com/", "mailto:somebody", "httpx://example.com"])
        func `Another scheme is unsupportedScheme`(text: String) {
            #expect(code { try request(text) } == .unsupportedScheme)
        }

        @Test func `CONNECT is unsupported`() {
            #expect(code { try request("http://example.com", method: "CONNECT") } == .unsupported)
        }

        @Test func `An empty field is sent as one`() throws {
            #expect(try request("http://example.com", fields: ["X-Empty": ""]).fields.lines == ["X-Empty;"])
        }

        @Test func `Fields that frame a body are left to the library`() throws {
            let fields = ["Content-Length": "5", "Transfer-Encoding": "chunked"]
            #expect(try request("http://example.com", fields: fields).fields.lines == [])
        }

        @Test func `A request that says what it accepts gets the body as it came`() throws {
            #expect(try request("http://example.com").fields.decodesBody)
            #expect(try !request("http://example.com", fields: ["accept-encoding": "gzip"]).fields.decodesBody)
            #expect(try !request("http://example.com", fields: ["Range": "bytes=0-1"]).fields.decodesBody)
        }

        @Test(arguments: ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"])
        func `Safe methods may be sent twice`(method: String) throws {
            #expect(try request("http://example.com", method: method).isSafe)
        }

        @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "MKCOL"])
        func `Other methods may not be sent twice`(method: String) throws {
            #expect(try !request("http://example.com", method: method).isSafe)
        }

        // MARK: The option close of the field Connection (RFC 9112, section 9.6)

        private static let endingOptions = [
            "close", "Close", "CLOSE", "close, TE", "TE, close", "TE,close", " ,\tclose ,",
        ]
        private static let keepingOptions = [
            "keep-alive", "TE", "closed", "disclose", "", "keep-alive, x-close", "close=1", "clo se",
        ]

        private func fields(_ value: String, name: String = "Connection") throws -> CurlRequest.Fields {
            try CurlRequest.Fields([name: value])
        }

        @Test(arguments: endingOptions)
        func `The option close ends the connection`(value: String) throws {
            #expect(try fields(value).endsConnection)
            #expect(try fields(value, name: "cONNECTION").endsConnection)
        }

        @Test(arguments: keepingOptions)
        func `Another option does not`(value: String) throws {
            #expect(try !fields(value).endsConnection)
        }

        @Test func `Another field with the option does not`() throws {
            #expect(try !fields("close", name: "X-Connection").endsConnection)
            #expect(try !fields("close", name: "Cannection").endsConnection)
        }
    }

#endif
