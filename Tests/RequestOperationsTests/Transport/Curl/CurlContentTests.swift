#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Content codings that are rare, broken or unknown, over real sockets.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlContentTests {
        private let transport = CurlTransport.with { _ in }

        private func server(_ body: Data, _ coding: String = "gzip") async throws -> LoopbackServer {
            let server = try await LoopbackServer.start()
            server.route("/", .status(200, fields: ["Content-Encoding": coding], body: body))
            return server
        }

        private static let members = Gzip.member(Data("hello".utf8)) + Gzip.member(Data(" world".utf8), fields: true)

        @Test(
            .enabled(if: Libcurl.asksLateWhetherToDecode), arguments: ["gzip", "x-gzip", "GZIP", " gzip "],
            [Data(), Data(count: 100), Data("more".utf8)])
        func `Members of gzip are one body, and what follows them is left out`(
            coding: String, trailer: Data
        ) async throws {
            let server = try await server(Self.members + trailer, coding)
            for _ in 1...3 { #expect(try await transport.text(server.url) == "hello world") }
            #expect(server.connections.count == 1)
        }

        @Test(.enabled(if: !Libcurl.asksLateWhetherToDecode))
        func `Members of gzip are undecodableContent where libcurl decodes`() async throws {
            let server = try await server(Self.members)
            #expect(await transport.row(server.url).code == .undecodableContent)
        }

        @Test(.enabled(if: Libcurl.asksLateWhetherToDecode))
        func `Members of gzip come whole for a slow consumer, in a file, in chunks, and over HTTP2`() async throws {
            let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 11) })
            let coded = Gzip.member(content) + Gzip.member(content)
            let server = try await server(coded)
            let body = Locked(Data())
            let task = TransportTask.stream(server.request()) { piece in
                await Task.yield()
                body.withLock { $0 += piece }
            }
            #expect(try await transport.perform(task) { _ in }.bodySize == Int64(2 * content.count))
            #expect(body.withLock { $0 } == content + content)
            let path = TemporaryPath()
            _ = try await transport.perform(.download(server.request(), to: path.url)) { _ in }
            #expect(try Data(contentsOf: path.url) == content + content)
            let small = Gzip.member(Data("hello".utf8)) + Gzip.member(Data("x".utf8))
            var response = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
            for byte in small { response += "1\r\n\(Character(Unicode.Scalar(byte)))\r\n" }
            response += "0\r\n\r\n"
            server.route("/chunks", .raw(Data(response.unicodeScalars.map { UInt8($0.value) })))
            #expect(try await transport.text(server.url.appendingPathComponent("chunks")) == "hellox")
        }

        @Test func `Who names codings itself gets the body as it came`() async throws {
            let server = try await server(Self.members)
            #expect(try await transport.get(server.url, fields: ["Accept-Encoding": "gzip"]).body == Self.members)
        }

        @Test func `A bound of the body holds for what is decoded`() async throws {
            let server = try await server(Content.gzipBomb)
            var task = TransportTask.data(server.request())
            task.limits.maximumBodySize = 100_000
            #expect(await transport.row(task).code == .bodyTooLarge)
            task.limits.maximumBodySize = nil
            #expect(try await transport.perform(task) { _ in }.body == Data(count: 1 << 20))
        }

        @Test func `A body that expands beyond the ratio ends, wherever it goes`() async throws {
            let server = try await server(Content.gzipBomb)
            let path = TemporaryPath()
            for task in [TransportTask.data(server.request()), .download(server.request(), to: path.url)] {
                var task = task
                // A megabyte of zeros is more than twice of what came and 256 KiB.
                task.limits.maximumDecompressionRatio = 2
                #expect(await transport.row(task).code == .bodyTooLarge)
                #expect(!FileManager.default.fileExists(atPath: path.url.path))
                task.limits.maximumDecompressionRatio = nil
                #expect(try await transport.perform(task) { _ in }.bodySize == 1 << 20)
            }
        }

        /// 10 MB of gzip, which would expand to 10 GB. zlib makes 1,037 bytes of a mebibyte of zeros, and each next one alike.
        private static let largeBomb: Data = {
            let mebibyte =
                Data([0xEC, 0xC1, 0x31, 1, 0, 0, 0, 0xC2, 0xA0, 0xF5, 0x4F, 0x6D, 8, 0x5F, 0xA0]) + Data(count: 1016)
                + Data([0x3E, 3, 0, 0, 0xFF, 0xFF])
            var bomb = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3])
            for _ in 0..<10_000 { bomb += mebibyte }
            return bomb
        }()

        @Test func `By default a body of ten gigabytes in ten megabytes of gzip ends soon, wherever it goes`()
            async throws
        {
            let server = try await server(Self.largeBomb)
            let path = TemporaryPath()
            for task in [TransportTask.data(server.request()), .download(server.request(), to: path.url)] {
                var task = task
                task.limits.maximumBodySize = nil
                let row = await transport.row(task)
                #expect(row.code == .bodyTooLarge && row.bytes < 200_000_000)
                #expect(!FileManager.default.fileExists(atPath: path.url.path))
            }
        }

        private static let broken: [(String, Data)] = [
            ("gzip", Data(repeating: 0x2A, count: 100)), ("gzip", Data("<html>".utf8)),
            ("gzip", Data([0x1F, 0x8B, 9]) + Data(count: 30)),
            ("gzip", Data(Gzip.member(Data("hello".utf8)).dropLast(8)) + Data(count: 8)),
            ("gzip", Gzip.member(Data("hello".utf8)) + Data([0x1F, 0x8B, 8, 0xFF]) + Data(count: 30)),
            ("deflate", Data("hello".utf8)), ("deflate", Data(repeating: 0xFF, count: 100)),
            ("gzip, gzip", Gzip.member(Data("hello".utf8))), ("gzip, deflate", Data("hello".utf8)),
            (Array(repeating: "gzip", count: 20).joined(separator: ","), Data("hello".utf8)),
        ]

        @Test(arguments: broken)
        func `A broken coding is undecodableContent`(coding: String, body: Data) async throws {
            let server = try await server(body, coding)
            let row = await transport.row(server.url)
            #expect(row.code == .undecodableContent && !row.isSurelyNotSent)
        }

        @Test(arguments: [
            ("br", Data(repeating: 0xFF, count: 100)), ("br", Data("hello, this is plain text".utf8)),
            ("zstd", Data(repeating: 0x2A, count: 100)), ("zstd", Data("hello, this is plain text".utf8)),
        ])
        func `So is a broken coding that only some libraries know`(coding: String, body: Data) async throws {
            guard Libcurl.decodes(coding) else { return }
            let server = try await server(body, coding)
            #expect(await transport.row(server.url).code == .undecodableContent)
        }

        @Test(.enabled(if: Libcurl.asksLateWhetherToDecode), arguments: [5, 12, 20])
        func `A body that ends within its coding is truncatedBody`(count: Int) async throws {
            let server = try await server(Data(Gzip.member(Data("hello".utf8)).prefix(count)))
            #expect(await transport.row(server.url).code == .truncatedBody)
        }

        @Test func `A body in an unknown coding is undecodableContent if libcurl refuses it`() async throws {
            let server = try await server(Data("uryyb".utf8), "x-rot13")
            let row = await transport.row(server.url)
            let isRefused = Libcurl.isVersion(from: (8, 5))
            #expect(row == (isRefused ? .sent(.undecodableContent, .body, 61) : Row()))
        }

        @Test(arguments: ["HEAD", "GET"])
        func `A response without content is in any coding`(method: String) async throws {
            let server = try await server(Data(), "gzip")
            var request = server.request()
            request.httpMethod = method
            #expect(try await transport.perform(.data(request)) { _ in }.body.isEmpty)
        }
    }
#endif
