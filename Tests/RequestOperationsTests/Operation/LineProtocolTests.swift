#if canImport(Glibc)
    import Glibc
    import RequestOperations
    import RequestOperationsTesting
    import Testing

    /// Another protocol than HTTP, spoken by a `RetryingOperation`: a question and its answer are one line each, over TCP.
    @Suite(.timeLimit(.minutes(15))) struct LineProtocolTests {
        private func ask(_ question: String, at server: LineServer, retries: Int = 2) -> LineRequest {
            var configuration = RequestConfiguration()
            configuration.hosts = HostRegistry()
            configuration.retryPolicy = RetryPolicy(maximumRetries: retries, backoff: .constant(.zero))
            return LineRequest(question, port: server.port, configuration: configuration)
        }

        @Test func `A question is answered`() async throws {
            let server = try LineServer([.answer])
            #expect(try await run(ask("hello", at: server)) == "OK hello")
        }

        @Test func `A question whose connection breaks is asked again`() async throws {
            let server = try LineServer([.close, .close, .answer])
            let request = ask("hello", at: server)
            #expect(try await run(request) == "OK hello" && request.attempts.count == 3)
        }

        @Test func `A refusal is final`() async throws {
            let server = try LineServer([.refuse, .answer])
            let error = await failure(of: ask("hello", at: server)) as? RequestError
            #expect(error?.underlying as? LineRequest.Refused == LineRequest.Refused(line: "ERR hello"))
            #expect(error?.attempts.count == 1)
        }

        @Test func `After the last attempt its error is the cause`() async throws {
            let server = try LineServer([.close, .close])
            let error = await failure(of: ask("hello", at: server, retries: 1)) as? RequestError
            #expect(error?.underlying is LineConnection.Broken && error?.attempts.count == 2)
        }

        @Test func `A cancel closes the connection`() async throws {
            let server = try LineServer([.stall])
            let request = ask("hello", at: server)
            OperationQueue().addOperation(request)
            await server.isAsked.pass()
            request.cancel()
            await #expect(throws: CancellationError.self) { try await request.value }
            await server.sawEnd.pass()
        }

        @Test func `Several are asked at a time, as many as the loop wants`() async throws {
            let server = try LineServer(Array(repeating: .answer, count: 10))
            let requests = (0..<10).lazy.map { ask("\($0)", at: server) }
            var answers: [String] = []
            for try await result in RequestQueue().results(of: requests, atMost: 3) { answers.append(try result.get()) }
            #expect(answers == (0..<10).map { "OK \($0)" })
        }
    }

    /// Asks one question. A broken connection is worth another attempt, and a refusal is not.
    // Unchecked as its superclass is. Its own properties are constants.
    private final class LineRequest: RetryingOperation<String>, @unchecked Sendable {
        struct Refused: Error, Equatable {
            let line: String
        }

        private let question: String
        private let port: UInt16

        init(_ question: String, port: UInt16, configuration: RequestConfiguration) {
            self.question = question
            self.port = port
            var configuration = configuration
            configuration.retryPolicy.isTransient = { !($0 is Refused) }
            // The resource names the host for the limiter, the budget and the breaker. (A port makes a URL.)
            super.init(resource: URL(string: "line://127.0.0.1:\(port)")!, configuration: configuration)
        }

        override func attempt(_ number: Int) async throws -> String {
            let connection = try LineConnection(port: port)
            let answer = try await withTaskCancellationHandler {
                try await connection.ask(question)
            } onCancel: {
                connection.end()
            }
            guard answer.hasPrefix("OK ") else { throw Refused(line: answer) }
            return answer
        }
    }

    /// A TCP connection to this machine that carries lines.
    private final class LineConnection: Sendable {
        struct Broken: Error {}

        private let descriptor: Int32
        /// Reading blocks this queue, and no thread of the Tasks.
        private let queue = DispatchQueue(label: "LineConnection")

        init(port: UInt16) throws {
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            guard descriptor >= 0 else { throw Broken() }
            var address = sockaddr_in(port: port)
            let outcome = address.withPointer { connect(descriptor, $0, $1) }
            guard outcome == 0 else {
                close(descriptor)
                throw Broken()
            }
        }

        init(accepted descriptor: Int32) {
            self.descriptor = descriptor
        }

        deinit {
            close(descriptor)
        }

        func ask(_ line: String) async throws -> String {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(
                        with: Result {
                            try self.write(line)
                            return try self.read()
                        })
                }
            }
        }

        /// Ends the connection, and a read that waits.
        func end() {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }

        func write(_ line: String) throws {
            let bytes = Array((line + "\n").utf8)
            guard send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
                throw Broken()
            }
        }

        /// Reads up to the end of the line.
        func read() throws -> String {
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while recv(descriptor, &byte, 1, 0) == 1 {
                if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
                line.append(byte)
            }
            throw Broken()
        }
    }

    /// A server with a conduct for each connection.
    private final class LineServer: Sendable {
        enum Conduct {
            case answer
            case refuse
            case close
            /// Never answers, and waits for the end of the connection.
            case stall
        }

        let port: UInt16
        let isAsked = Door()
        let sawEnd = Door()

        init(_ conducts: [Conduct]) throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in(port: 0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard address.withPointer({ bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else {
                throw LineConnection.Broken()
            }
            _ = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
            }
            port = UInt16(bigEndian: address.sin_port)
            Thread.detachNewThread { [self] in
                for conduct in conducts { serve(LineConnection(accepted: accept(listener, nil, nil)), conduct) }
                close(listener)
            }
        }

        private func serve(_ connection: LineConnection, _ conduct: Conduct) {
            guard let question = try? connection.read() else { return }
            isAsked.open()
            switch conduct {
            case .answer: try? connection.write("OK \(question)")
            case .refuse: try? connection.write("ERR \(question)")
            case .close: break
            case .stall:
                _ = try? connection.read()
                sawEnd.open()
            }
        }
    }

    extension sockaddr_in {
        /// An address of this machine.
        fileprivate init(port: UInt16) {
            self.init()
            sin_family = sa_family_t(AF_INET)
            sin_port = port.bigEndian
            sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        }

        fileprivate mutating func withPointer(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
            withUnsafePointer(to: &self) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }
#endif
