#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct CurlRequestTests {
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
    }

#endif
