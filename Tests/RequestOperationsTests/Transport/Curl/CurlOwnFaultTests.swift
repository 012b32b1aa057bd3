#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Requests and settings that cannot be carried out, which is no fault of the server and does not pass.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlOwnFaultTests {
        private let transport = CurlTransport.with { _ in }

        @Test(arguments: [1_000_000, 5_000_000])
        func `A URL that is too long is badURL and not sent`(length: Int) async throws {
            let server = try await LoopbackServer.start()
            let url = server.url.appendingPathComponent(String(repeating: "a", count: length))
            #expect(await transport.row(url) == .unsent(.badURL))
        }

        @Test(arguments: [1, 20])
        func `Fields that are too large are invalidField and not sent`(count: Int) async throws {
            let server = try await LoopbackServer.start()
            var request = server.request()
            for number in 0..<count {
                request.setValue(String(repeating: "a", count: 1_100_000 / count), forHTTPHeaderField: "X-\(number)")
            }
            #expect(await transport.row(.data(request)) == .unsent(.invalidField))
        }

        @Test func `The largest fields that are sent arrive, with a body beside them`() async throws {
            let server = try await LoopbackServer.start {
                .text("\($0.field("X-Large")?.utf8.count ?? 0) \($0.bodyByteCount)")
            }
            var request = server.request()
            request.httpMethod = "POST"
            request.setValue(String(repeating: "a", count: 60_000), forHTTPHeaderField: "X-Large")
            let task = TransportTask.upload(request, from: .data(Data(count: 64 << 10)))
            let response = try await transport.perform(task) { _ in }
            #expect(String(decoding: response.body, as: UTF8.self) == "60000 65536")
        }

        @Test(arguments: [
            "http://127.0.0.1:99999", "http://[not-an-address]:80", "gopher://127.0.0.1:80", "ftp://127.0.0.1:80",
            "nonsense://localhost", "wss://localhost", "socks6://localhost:80", "http://127.0.0.1:100000",
            "socks5://127.0.0.1:99999",
        ])
        func `A proxy that cannot be is unsupported, which is not tried again`(proxy: String) async throws {
            let url = try #require(URL(string: proxy))
            let transport = CurlTransport.with { $0.proxy = .url(url) }
            let row = await transport.row(try #require(URL(string: "http://127.0.0.1:9/")))
            #expect(row.code == .unsupported && row.isSurelyNotSent)
            #expect(!RetryPolicy().codes.contains(.unsupported))
        }
    }
#endif
