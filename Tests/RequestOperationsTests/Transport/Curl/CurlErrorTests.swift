#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// The rows of the table of errors, each provoked on a real socket. (That of the limit for connecting is in the
    /// conformance suite.)
    @Suite(.timeLimit(.minutes(15)))
    struct CurlErrorTests {
        private let transport = CurlTransport.trusting()
        private let secure = SecureServers.shared

        private func loopback(_ response: LoopbackServer.Response) async throws -> Row {
            let server = try await LoopbackServer.start()
            server.route("/", response)
            return await transport.row(server.url)
        }

        // MARK: Connecting

        @Test func `A refused connection is cannotConnect and surely not sent`() async throws {
            let port = try RefusingPort()
            #expect(await transport.row(port.url) == .unsent(.cannotConnect, 7))
        }

        @Test func `An address to which no route leads is notConnected and surely not sent`() async throws {
            // No TCP connection can be made to this one; the system says the same without a network.
            let url = try #require(URL(string: "http://255.255.255.255:80/"))
            #expect(await transport.row(url) == .unsent(.notConnected, 7))
        }

        @Test(arguments: ["127.0.0.1,255.255.255.255", "255.255.255.255,127.0.0.1"])
        func `A host that refuses is cannotConnect though no route leads to another of its addresses`(
            addresses: String
        ) async throws {
            let port = try RefusingPort()
            let transport = CurlTransport.with { $0.resolve = ["two.example:\(port.number):\(addresses)"] }
            let url = try #require(URL(string: "http://two.example:\(port.number)/"))
            #expect(await transport.row(url) == .unsent(.cannotConnect, 7))
        }

        @Test func `A name that does not exist is cannotResolveHost and surely not sent`() async throws {
            let url = try #require(URL(string: "http://name.invalid/"))
            let row = await transport.row(url)
            #expect(row == .unsent(.cannotResolveHost, 6))
        }

        @Test func `A scheme other than http and https is unsupportedScheme`() async throws {
            #expect(await transport.row(URL(fileURLWithPath: "/etc/passwd")) == .unsent(.unsupportedScheme))
            #expect(
                await transport.row(try #require(URL(string: "ftp://localhost/"))) == .unsent(.unsupportedScheme))
        }

        @Test func `A port that cannot be is badURL`() async throws {
            #expect(await transport.row(try #require(URL(string: "http://localhost:99999/"))) == .unsent(.badURL, 3))
        }

        // MARK: TLS

        @Test func `An unknown issuer is untrustedCertificate and surely not sent`() async {
            let transport = CurlTransport.with { _ in }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `A certificate for another host is untrustedCertificate and surely not sent`() async {
            #expect(await transport.row(secure.url(.wrongHost)) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `A certificate that has ended is untrustedCertificate and surely not sent`() async {
            #expect(await transport.row(secure.url(.expired)) == .unsent(.untrustedCertificate, 60))
        }

        @Test func `Roots that cannot be read are untrustedCertificate and surely not sent`() async {
            let transport = CurlTransport.with { $0.trust.roots = .file(URL(fileURLWithPath: "/nowhere/roots.pem")) }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.untrustedCertificate, 77))
        }

        @Test func `Another key than the pinned ones is pinningFailed and surely not sent`() async {
            let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
            let transport = CurlTransport.trusting { $0.trust.pinnedKeys = [other] }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.pinningFailed, 90))
        }

        @Test func `A server that speaks no TLS is secureConnectionFailed and surely not sent`() async throws {
            let cleartext = secure.url(.cleartext)
            let url = try #require(
                URL(string: cleartext.absoluteString.replacingOccurrences(of: "http:", with: "https:")))
            let row = await transport.row(url)
            #expect(row == .unsent(.secureConnectionFailed, 35))
        }

        @Test func `A server whose TLS is too old is secureConnectionFailed and surely not sent`() async {
            let transport = CurlTransport.trusting { $0.trust.minimumTLSVersion = .tls13 }
            #expect(await transport.row(secure.url(.oldTLS)) == .unsent(.secureConnectionFailed, 35))
        }

        @Test(arguments: [PythonPeer.Kind.resetting, .closing])
        func `A connection that ends in the handshake is connectionLost and surely not sent`(
            kind: PythonPeer.Kind
        ) async throws {
            let peer = try await PythonPeer(kind)
            let url = try #require(URL(string: "https://127.0.0.1:\(peer.port)/"))
            #expect(await transport.row(url) == .unsent(.connectionLost, 35))
        }

        @Test
        func `A server of TLS 1_2 that knows not who issued the client's certificate is clientCertificateRejected`()
            async throws
        {
            let transport = CurlTransport.trusting {
                $0.trust.clientCertificate = .init(
                    certificate: secure.data("stranger.pem"), key: secure.data("stranger.key"))
            }
            let url = try #require(URL(string: "https://localhost:\(secure.oldDemandingPort)/"))
            #expect(await transport.row(url) == .unsent(.clientCertificateRejected, 35))
        }

        @Test func `A server of TLS 1_2 that misses a client certificate says no more than secureConnectionFailed`()
            async throws
        {
            let url = try #require(URL(string: "https://localhost:\(secure.oldDemandingPort)/"))
            #expect(await transport.row(url) == .unsent(.secureConnectionFailed, 35))
        }

        @Test func `A server of TLS 1_3 that demands a client certificate is clientCertificateRejected`() async throws {
            // In TLS 1.3 the server says so after the client has begun to send.
            let url = try #require(URL(string: "https://localhost:\(secure.demandingPort)/"))
            #expect(await transport.row(url) == .sent(.clientCertificateRejected, .head, 56))
        }

        @Test func `A client certificate that cannot be read is clientCertificateRejected and surely not sent`() async {
            let transport = CurlTransport.trusting {
                $0.trust.clientCertificate = .init(certificate: Data("no".utf8), key: Data("no".utf8))
            }
            #expect(await transport.row(secure.url(.http1)) == .unsent(.clientCertificateRejected, 58))
        }

        // MARK: Responses

        @Test func `A reset before the head is connectionLost`() async throws {
            #expect(try await loopback(.reset) == .sent(.connectionLost, .head, 56))
        }

        @Test func `An end before the head is connectionLost`() async throws {
            #expect(try await loopback(.closeWithoutAnswer) == .sent(.connectionLost, .head, 52))
        }

        @Test func `A reset in the body is connectionLost`() async throws {
            #expect(
                try await loopback(.resetBody(after: 10_000, of: 100_000))
                    == .sent(.connectionLost, .body, 56, bytes: 10_000))
        }

        @Test func `A connection that is reset during an upload is connectionLost`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .withoutReadingBody(.reset))
            var request = URLRequest(url: server.url)
            request.httpMethod = "PUT"
            let row = await transport.row(.upload(request, from: .data(Data(count: 20 << 20))))
            // A machine that is busy for more than a second may notice it when sending.
            #expect([.sent(.connectionLost, .request, 56), .sent(.connectionLost, .request, 55)].contains(row))
        }

        @Test func `A head that breaks off is connectionLost`() async throws {
            let response = LoopbackServer.Response.closing(.raw(Data("HTTP/1.1 200 OK\r\nContent-Le".utf8)))
            #expect(try await loopback(response) == .sent(.connectionLost, .head))
        }

        @Test func `A body from a stream cannot be sent again over another connection, which is connectionLost`()
            async throws
        {
            let server = try await LoopbackServer.start()
            server.route("/", .text("here"), .closeWithoutAnswer)
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url)
            var request = URLRequest(url: server.url)
            request.httpMethod = "QUERY"
            let stream = BodyStream(length: 5) {
                let pieces = Locked([Data("12345".utf8)])
                return BodyStream.Reader { pieces.withLock { $0.popLast() } }
            }
            let row = await transport.row(.upload(request, from: .stream(stream)))
            #expect(
                row.isRow(
                    .sent(.connectionLost, .head, 65), orSinceVersion8: .sent(.connectionLost, .head, 26)))
        }

        @Test(arguments: [
            ("HTTP/1.1 abc Strange\r\n\r\n", 1), ("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", 8),
            ("HTTP/7 200 OK\r\n\r\n", 1), ("HTTP/1.1 101 Switching Protocols\r\n\r\nanything at all", nil),
        ])
        func `A head that is not one is malformedResponse`(head: String, number: Int?) async throws {
            let row = try await loopback(.closing(.raw(Data(head.utf8))))
            #expect(row == .sent(.malformedResponse, .head, number))
        }

        @Test func `A line of a head without a colon is malformedResponse if libcurl refuses it`() async throws {
            let head = "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n"
            let row = try await loopback(.closing(.raw(Data(head.utf8))))
            let isRefused = Libcurl.isVersion(from: (7, 83))
            #expect(row == (isRefused ? .sent(.malformedResponse, .head, 8) : Row()))
        }

        @Test func `A status of four digits is malformedResponse`() async throws {
            let row = try await loopback(.closing(.raw(Data("HTTP/1.1 2000 OK\r\n\r\n".utf8))))
            #expect(row.isRow(.sent(.malformedResponse, .head, 1), orSinceVersion8: .sent(.malformedResponse, .head)))
        }

        @Test func `A chunk without a size is truncatedBody`() async throws {
            let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n"
            let row = try await loopback(.raw(Data(response.utf8)))
            #expect(
                row.isRow(.sent(.truncatedBody, .body, 56), orSinceVersion8: .sent(.truncatedBody, .body, 56, bytes: 1))
            )
        }

        @Test func `A body shorter than declared is truncatedBody`() async throws {
            #expect(
                try await loopback(.truncated(declared: 1000, sending: 10))
                    == .sent(.truncatedBody, .body, 18, bytes: 10))
        }

        @Test func `A chunked body that breaks off is truncatedBody`() async throws {
            #expect(try await loopback(.truncatedChunked) == .sent(.truncatedBody, .body, 18, bytes: 8))
        }

        @Test func `An answer that is not HTTP is malformedResponse`() async throws {
            #expect(
                try await loopback(.closing(.raw(Data("220 mail.example ESMTP\r\n".utf8))))
                    == .sent(.malformedResponse, .head, 1))
        }

        @Test func `A head of more than 256 KiB is malformedResponse`() async throws {
            let field = "X-Long: " + String(repeating: "x", count: 8000) + "\r\n"
            let head = "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 40) + "\r\n"
            #expect(try await loopback(.raw(Data(head.utf8))) == .sent(.malformedResponse, .head))
        }

        @Test func `A field of more than libcurl takes is malformedResponse, and names the limit`() async throws {
            let head = "HTTP/1.1 200 OK\r\nX-Long: " + String(repeating: "x", count: 120_000) + "\r\n\r\n"
            let row = try await loopback(.raw(Data(head.utf8)))
            #expect(
                row.isRow(.sent(.malformedResponse, .head, 27), orSinceVersion8: .sent(.malformedResponse, .head, 100)))
            let server = try await LoopbackServer.start { _ in .raw(Data(head.utf8)) }
            let failure = await CurlTransport.with { _ in }.failure(of: .data(server.request())) { _ in }
            #expect((failure?.error as? RequestError)?.reason?.contains("100 KiB") == true)
        }

        // MARK: Proxies

        @Test func `A proxy that is not there is proxyFailed and surely not sent`() async throws {
            let port = try RefusingPort()
            let transport = CurlTransport.with { $0.proxy = .url(port.url) }
            #expect(await transport.row(try #require(URL(string: "http://name.invalid/"))) == .unsent(.proxyFailed, 7))
        }

        @Test func `A download after one that did not come to connecting is a download`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .text("hello"))
            let transport = CurlTransport()
            let path = TemporaryPath()
            let bad = try #require(URL(string: "http://127.0.0.1:99999/"))
            #expect(await transport.row(.download(URLRequest(url: bad), to: path.url)) == .unsent(.badURL, 3))
            _ = try await transport.perform(.download(server.request(), to: path.url)) { _ in }
            #expect(try Data(contentsOf: path.url) == Data("hello".utf8))
        }

        @Test func `A proxy whose name does not exist is cannotResolveHost and surely not sent`() async throws {
            let proxy = try #require(URL(string: "http://proxy.invalid:8080"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy) }
            #expect(await transport.row(secure.url(.cleartext)) == .unsent(.cannotResolveHost, 5))
        }

        @Test func `A proxy that refuses the tunnel is proxyFailed and surely not sent`() async throws {
            let peer = try await PythonPeer(.httpProxy)
            let proxy = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy) }
            let row = await transport.row(try #require(URL(string: "https://localhost:9/")))
            #expect(row.isRow(.unsent(.proxyFailed, 56), orSinceVersion8: .unsent(.proxyFailed, 7)))
        }

        @Test func `A proxy that hangs up on a tunnel is proxyFailed and surely not sent`() async throws {
            let peer = try await PythonPeer(.closing)
            let proxy = try #require(URL(string: "http://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy) }
            #expect(
                await transport.row(try #require(URL(string: "https://name.invalid/"))) == .unsent(.proxyFailed, 56))
        }

        @Test func `A proxy whose certificate is not trusted is untrustedCertificate and surely not sent`() async throws
        {
            let peer = try await PythonPeer(.secureProxy)
            let proxy = try #require(URL(string: "https://localhost:\(peer.port)"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy) }
            let row = await transport.row(try #require(URL(string: "http://name.invalid/")))
            #expect(row == .unsent(.untrustedCertificate, 60))
        }

        @Test func `A proxy that does not speak SOCKS is proxyFailed and surely not sent`() async throws {
            let peer = try await PythonPeer(.closing)
            let proxy = try #require(URL(string: "socks5://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy) }
            #expect(await transport.row(secure.url(.cleartext)) == .unsent(.proxyFailed, 97))
        }

        @Test func `A name that does not exist is cannotResolveHost behind a SOCKS proxy that is given addresses`()
            async throws
        {
            let peer = try await PythonPeer(.socks5)
            let proxy = try #require(URL(string: "socks5://127.0.0.1:\(peer.port)"))
            let transport = CurlTransport.with { $0.proxy = .url(proxy) }
            let row = await transport.row(try #require(URL(string: "http://name.invalid/")))
            #expect(row.isRow(.unsent(.cannotResolveHost, 97), orSinceVersion8: .unsent(.cannotResolveHost, 6)))
        }

        // MARK: Sources and files

        @Test func `A file that is not there is unencodableBody before anything is sent`() async throws {
            let server = try await LoopbackServer.start()
            var request = URLRequest(url: server.url)
            request.httpMethod = "PUT"
            let task = TransportTask.upload(request, from: .file(URL(fileURLWithPath: "/nowhere/body")))
            let row = await transport.row(task)
            #expect(row == .unsent(.unencodableBody))
            #expect(server.connections.isEmpty)
        }

        @Test func `A destination that cannot be written is fileFailed`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .large(byteCount: 1 << 20))
            // A device on which nothing can be written, by a link lest the test ever removes it.
            let link = FileManager.default.temporaryDirectory.appendingPathComponent("full-\(UUID().uuidString)")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/dev/full")
            defer { try? FileManager.default.removeItem(at: link) }
            let task = TransportTask.download(URLRequest(url: server.url), to: link)
            let row = await transport.row(task)
            #expect(row.code == .fileFailed && row.phase == .body && row.hasHead)
        }

        @Test func `A destination that is no regular file is not removed when the transfer fails`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .truncated(declared: 100, sending: 10))
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let link = folder.appendingPathComponent("null")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "/dev/null")
            #expect(
                await transport.row(.download(URLRequest(url: server.url), to: link))
                    == .sent(.truncatedBody, .body, 18, bytes: 10))
            #expect(FileManager.default.fileExists(atPath: link.path))
            try FileManager.default.removeItem(at: folder)
        }

        @Test func `A consumer gets what came of a body that breaks off`() async throws {
            let server = try await LoopbackServer.start()
            server.route("/", .truncated(declared: 100, sending: 10))
            for _ in 0..<30 {
                let received = Collector<Data>()
                let row = await transport.row(.stream(URLRequest(url: server.url)) { received.append($0) })
                #expect(row.code == .truncatedBody)
                #expect(received.elements.reduce(0) { $0 + $1.count } == 10)
            }
        }

        @Test func `The error has libcurl's number as its cause and its words as the reason`() async throws {
            let port = try RefusingPort()
            let failure = await transport.failure(of: .data(URLRequest(url: port.url)))
            let error = try #require(failure?.error as? RequestError)
            #expect((error.underlying as? CurlError)?.code == 7)
            let reason = try #require(error.reason)
            // From 8.16 on libcurl writes the port as a URL does.
            #expect(reason.contains("port \(port.number)") || reason.contains(":\(port.number)"))
        }
    }
#endif
