#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Heads with a line that begins with a blank where there is no line to continue. Some versions of libcurl write to freed
    /// memory for them, so each test has a process to itself.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlFoldedHeadTests {
        /// Where the folded line stands.
        enum Fold: String, CaseIterable {
            case space = "HTTP/1.1 200 OK\r\n Date: x\r\nContent-Length: 2\r\n\r\nok"
            case tab = "HTTP/1.1 200 OK\r\n\tDate: x\r\nContent-Length: 2\r\n\r\nok"
            case blankLine = "HTTP/1.1 200 OK\r\n  \r\nContent-Length: 2\r\n\r\nok"
            case lineFeeds = "HTTP/1.1 200 OK\n Date: x\nContent-Length: 2\n\nok"
            case rejection = "HTTP/1.1 404 No\r\n Date: x\r\nContent-Length: 2\r\n\r\nok"
            case informational = "HTTP/1.1 103 Early\r\n Link: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            case afterInformational =
                "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n Date: x\r\nContent-Length: 2\r\n\r\nok"
        }

        @Test(arguments: Fold.allCases)
        func `A head that begins with a folded line is malformedResponse, whatever its handle served before`(
            fold: Fold
        ) async {
            await #expect(processExitsWith: .success) { [fold = fold.rawValue as String] in
                try await CurlFoldedHeadTests.meet(fold, isOtherHost: false)
            }
        }

        @Test(arguments: Fold.allCases)
        func `It is so too after another host`(fold: Fold) async {
            await #expect(processExitsWith: .success) { [fold = fold.rawValue as String] in
                try await CurlFoldedHeadTests.meet(fold, isOtherHost: true)
            }
        }

        /// Meets a folded head and an ordinary one in turn, one at a time and several at a time.
        private static func meet(_ fold: String, isOtherHost: Bool) async throws {
            let ordinary = LoopbackServer.Response.status(
                200, fields: ["X-Long": String(repeating: "x", count: 300), "X-Other": "y"], body: Data("ok".utf8))
            let folding = LoopbackServer.Response.raw(Data(fold.utf8))
            let server = try await LoopbackServer.start { $0.target == "/folded" ? folding : ordinary }
            let other = isOtherHost ? try await LoopbackServer.start { _ in ordinary } : server
            let transport = CurlTransport.with { _ in }
            for round in 0..<15 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<(round % 5 + 1) {
                        group.addTask {
                            guard try await transport.text(other.url) == "ok" else { exit(2) }
                            let row = await transport.row(server.url.appendingPathComponent("folded"))
                            guard row.code == .malformedResponse else { exit(3) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }

        @Test func `A trailer that begins with a folded line harms nothing`() async {
            await #expect(processExitsWith: .success) {
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                let body = "2\r\nok\r\n0\r\n A: x\r\nB: y\r\n\r\n"
                let server = try await LoopbackServer.start { _ in .raw(Data((head + body).utf8)) }
                let transport = CurlTransport.with { _ in }
                for _ in 0..<15 {
                    guard try await transport.text(server.url) == "ok" else { exit(2) }
                }
            }
        }

        @Test func `A proxy whose head begins with a folded line harms nothing`() async {
            await #expect(processExitsWith: .success) {
                let server = try await LoopbackServer.start { request in
                    let folded = "HTTP/1.1 200 OK\r\n A: x\r\nB: y\r\n\r\n"
                    guard request.target.hasPrefix("odd") else {
                        return .closing(.status(403, fields: ["A": "b"], body: Data("no".utf8)))
                    }
                    return .closing(.raw(Data(folded.utf8)))
                }
                let transport = CurlTransport.with { $0.proxy = .url(server.url) }
                for round in 0..<15 {
                    let host = round % 2 == 0 ? "even" : "odd"
                    guard let url = URL(string: "https://\(host).example/") else { exit(2) }
                    let row = await transport.row(url)
                    // Some versions of libcurl take the head for a tunnel, in which no handshake comes about then.
                    let isTunnel = host == "odd" && row.code == .connectionLost
                    guard row.code == .proxyFailed || isTunnel, row.isSurelyNotSent else { exit(3) }
                }
            }
        }
    }
#endif
