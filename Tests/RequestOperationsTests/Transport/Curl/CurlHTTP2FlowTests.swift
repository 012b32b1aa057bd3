#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Over HTTP/2, uploads, and transfers that share a connection with one that is cancelled or waits for its consumer.
    @Suite(.timeLimit(.minutes(5)))
    struct CurlHTTP2FlowTests {
        // MARK: Uploads

        private static let echo = """
            body = s.body()
            s.head(200, ("x-length", s.fields.get("content-length", "none")))
            s.send(bytes(body))
            """

        private static func stream(_ pieces: [Data], length: Int64? = nil) -> BodyStream {
            BodyStream(length: length) {
                let left = Locked(pieces[...])
                return BodyStream.Reader { left.withLock { $0.popFirst() } }
            }
        }

        @Test(arguments: [1_000_003, nil] as [Int64?])
        func `A body is sent byte for byte, of a known length and of an unknown`(length: Int64?) async throws {
            let peer = try await HTTP2Peer(Self.echo)
            let content = Content.pattern(1_000_003)
            let pieces = stride(from: 0, to: content.count, by: 50_000).map { content.dropFirst($0).prefix(50_000) }
            let body = Self.stream(pieces, length: length)
            let task = TransportTask.upload(peer.request(method: "POST"), from: .stream(body))
            let response = try await peer.perform(task)
            #expect(response.body == content)
            #expect(response.head.field("X-Length") == (length.map { String($0) } ?? "none"))
        }

        @Test func `A stream without a byte is sent as an empty body`() async throws {
            let peer = try await HTTP2Peer(Self.echo)
            let task = TransportTask.upload(peer.request(method: "POST"), from: .stream(Self.stream([])))
            let response = try await peer.perform(task)
            #expect(response.head.status == 200 && response.body.isEmpty)
        }

        @Test(arguments: [true, false])
        func `Progress of a body that is sent only grows, and ends with all of it`(isLengthKnown: Bool) async throws {
            let peer = try await HTTP2Peer(Self.echo)
            let told = Collector<TransferProgress>()
            let pieces = Array(repeating: Content.pattern(100_000), count: 30)
            let body = Self.stream(pieces, length: isLengthKnown ? 3_000_000 : nil)
            var task = TransportTask.upload(peer.request(method: "POST"), from: .stream(body))
            task.onProgress = { told.append($0) }
            _ = try await peer.perform(task)
            let counts = told.elements.map(\.bytesSent)
            #expect(counts == counts.sorted() && counts.last == 3_000_000)
            #expect(told.elements.last?.bytesToSend == (isLengthKnown ? 3_000_000 : nil))
        }

        @Test func `A body that waits for 100 Continue is sent whole when that has come`() async throws {
            let peer = try await HTTP2Peer("s.head(100)\n" + Self.echo)
            let heads = Collector<Int>()
            let request = peer.request(method: "POST", fields: ["Expect": "100-continue"])
            let task = TransportTask.upload(request, from: .data(Content.pattern(100_000)))
            let response = try await peer.perform(task) { heads.append($0.status) }
            #expect(response.body == Content.pattern(100_000))
            #expect(heads.elements == [200])
        }

        @Test func `A rejection during an upload ends the upload, and leaves the connection to others`() async throws {
            let peer = try await HTTP2Peer(
                """
                if s.method == "POST":
                    s.head(413)
                    s.send(b"no", ends=False)
                    s.reset()
                else:
                    s.head(200)
                    s.send(b"%d" % s.connection.number)
                """)
            #expect(try await peer.text() == "1")
            let body = Self.stream(Array(repeating: Content.pattern(1 << 16), count: 1024), length: 64 << 20)
            let upload = TransportTask.upload(peer.request(method: "POST"), from: .stream(body))
            let failure = try await peer.rejection(of: upload, errorBodyTimeLimit: .milliseconds(100))
            #expect(failure.error is HTTP2Peer.Rejected && failure.head?.status == 413)
            // By the limit for the time, not by that for silence.
            #expect(try #require(failure.timings?.total) < .seconds(20))
            #expect(try await peer.text() == "1")
        }

        // MARK: Sharing

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `Streams that are cancelled are reset, and leave the others of their connection alone`() async throws {
            let peer = try await HTTP2Peer(
                """
                if s.path == "/open": door.set()
                s.head(200)
                if s.path in ("/other", "/cancelled"):
                    s.pattern(1000, ends=False)
                    tell("begun", s.connection.number)
                    if s.path == "/other": door.wait()
                    else: tell("reset", s.reset())
                s.send(b"end")
                """)
            _ = try await peer.get("/first")
            let others = (1...5).map { _ in Task { try await peer.get("/other") } }
            let heads = Collector<Int>()
            let cancelled = (1...5).map { _ in
                Task { try await peer.perform(.data(peer.request("/cancelled"))) { heads.append($0.status) } }
            }
            for _ in 1...10 { #expect(await peer.line() == "begun 1") }
            await heads.count(5)
            for transfer in cancelled { transfer.cancel() }
            for transfer in cancelled { await #expect(throws: CancellationError.self) { try await transfer.value } }
            #expect(try await peer.text("/open") == "end")
            // CANCEL or STREAM_CLOSED, at the latest with that request.
            for _ in 1...5 { #expect(["reset 8", "reset 5"].contains(await peer.line())) }
            for other in others { #expect(try await other.value.body == Content.pattern(1000) + Data("end".utf8)) }
        }

        @Test(arguments: [true, false])
        func `The server hears at once that the only stream of a connection is cancelled`(isAnswered: Bool) async throws
        {
            let peer = try await HTTP2Peer(
                """
                if s.path == "/answered":
                    s.head(200)
                    s.pattern(1000, ends=False)
                if s.path == "/next": s.head(200, ends=True)
                tell("begun", s.connection.number)
                if s.path != "/next": tell("heard", s.reset())
                """)
            let heads = Collector<Int>()
            let cancelled = Task {
                try await peer.perform(.data(peer.request(isAnswered ? "/answered" : "/"))) { heads.append($0.status) }
            }
            #expect(await peer.line() == "begun 1")
            if isAnswered { await heads.count(1) }
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            // By a reset or, where libcurl would wait with that, by the end of the connection.
            let hearsEnd = Libcurl.holdsBackResets
            #expect((hearsEnd ? ["heard end"] : ["heard 8", "heard 5"]).contains(await peer.line()))
            _ = try await peer.get("/next")
            #expect(await peer.line() == (hearsEnd ? "begun 2" : "begun 1"))
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `The server hears of a cancel beside an upload, at the latest when that goes on`() async throws {
            let peer = try await HTTP2Peer(
                """
                if s.path != "/first":
                    tell("begun", s.connection.number)
                    if s.method == "GET": tell("heard", s.reset())
                    else: tell("received", len(s.body()))
                s.head(200, ends=True)
                """)
            _ = try await peer.get("/first")
            let mayGoOn = Door()
            let source = BodyStream(length: nil) {
                let pieces = Locked([Data("ab".utf8), Data("c".utf8)])
                return BodyStream.Reader {
                    let piece = pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    if piece != Data("ab".utf8) { await mayGoOn.pass() }
                    return piece
                }
            }
            let upload = Task {
                try await peer.perform(.upload(peer.request(method: "POST"), from: .stream(source)))
            }
            #expect(await peer.line() == "begun 1")
            let cancelled = Task { try await peer.get() }
            #expect(await peer.line() == "begun 1")
            cancelled.cancel()
            await #expect(throws: CancellationError.self) { try await cancelled.value }
            mayGoOn.open()
            let lines = Set([await peer.line(), await peer.line()])
            #expect(lines == ["heard 8", "received 3"] || lines == ["heard 5", "received 3"])
            #expect(try await upload.value.head.status == 200)
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `The server hears of a body that grows too large, at the latest with the next request`()
            async throws
        {
            let peer = try await HTTP2Peer(
                """
                s.head(200)
                s.pattern(1000, ends=False)
                tell("begun", s.connection.number)
                if s.path == "/other": door.wait()
                else: s.pattern(9000, ends=False)
                if s.path == "/large": tell("heard", s.reset())
                s.send(b"end")
                """)
            let other = Task { try await peer.get("/other") }
            #expect(await peer.line() == "begun 1")
            var task = peer.task("/large")
            task.limits.maximumBodySize = 5000
            let failure = try #require(await peer.transport.failure(of: task))
            #expect((failure.error as? RequestError)?.code == .bodyTooLarge)
            #expect(await peer.line() == "begun 1")
            _ = try await peer.get("/next")
            // (8.11 and 8.14 give a reason that there is not.)
            let lines = [await peer.line(), await peer.line()].sorted()
            #expect(try lines[0] == "begun 1" && /heard \d+/.wholeMatch(in: lines[1]) != nil)
            other.cancel()
            await #expect(throws: CancellationError.self) { try await other.value }
        }

        @Test(.enabled(if: Libcurl.sharesConnections))
        func `A response that waits for its consumer holds up no other of its connection`() async throws {
            let peer = try await HTTP2Peer(
                """
                s.head(200)
                if s.path == "/slow": s.pattern(40 << 20)
                else: s.send(b"%d" % s.connection.number)
                """)
            let driver = OwnDriver(peer.configuration)
            let (body, mayGoOn) = (Locked(Data()), Door())
            let task = TransportTask.stream(peer.request("/slow")) { piece in
                await mayGoOn.pass()
                body.withLock { $0.append(piece) }
            }
            let slow = try driver.transfer(task)
            let response = Task { try await slow.run() }
            defer { mayGoOn.open() }
            await eventually { slow.isHeldBack }
            let began = ContinuousClock.now
            for _ in 1...20 {
                #expect(try await driver.transfer(peer.task()).run().body == Data("1".utf8))
            }
            // Many times what it takes; those that are held up are answered later still, or never.
            #expect(ContinuousClock.now - began < .seconds(12))
            #expect(slow.isHeldBack)
            mayGoOn.open()
            #expect(try await response.value.head.version == .http2)
            #expect(body.withLock { $0 } == Content.pattern(40 << 20))
            await driver.drain()
        }
    }
#endif
