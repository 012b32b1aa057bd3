#if os(Linux)
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    /// What becomes of answers that are not whole.
    @Suite(.timeLimit(.minutes(15))) struct RouteMonitorAnswerTests {
        /// Says what a test wants, in the place of a socket.
        private final class Channel: RouteChannel {
            private struct State {
                var outcomes: [RouteSocket.Outcome]
                var questions = 0
                var handler: (@Sendable () -> Void)?
            }

            private let state: Locked<State>

            init(_ outcomes: [RouteSocket.Outcome] = []) {
                state = Locked(State(outcomes: outcomes))
            }

            var questions: Int { state.withLock { $0.questions } }
            var isWatched: Bool { state.withLock { $0.handler != nil } }

            func send(_ message: [UInt8]) -> Bool {
                state.withLock { $0.questions += 1 }
                return true
            }

            func receive(waiting: Bool) -> RouteSocket.Outcome {
                // Nothing is left over of an answer; news, on the other channel, is not waited for.
                state.withLock { state in
                    guard waiting || state.handler != nil, !state.outcomes.isEmpty else { return .nothing }
                    return state.outcomes.removeFirst()
                }
            }

            func watch(on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
                state.withLock { $0.handler = { queue.async(execute: handler) } }
                return { [state] in state.withLock { $0.handler = nil } }
            }

            /// Has something to tell.
            func tell(_ outcome: RouteSocket.Outcome) {
                let handler = state.withLock { state in
                    state.outcomes.append(outcome)
                    return state.handler
                }
                handler?()
            }
        }

        private static let link = RouteMessage.link(.init(index: 2, name: "none0", hardware: 1, isUsable: true))
        private static let address = RouteMessage.address(.init(link: 2, bytes: [10, 0, 0, 1]))
        private static let route = RouteMessage.defaultRoute(.init(links: [2], family: 2, priority: 0))

        private static let offline: [RouteSocket.Outcome] = [
            .messages([.end]), .messages([.end]), .messages([.end]),
        ]
        private static let online: [RouteSocket.Outcome] = [
            .messages([link, .end]), .messages([address]), .messages([.end]), .messages([route, .end]),
        ]

        private func path(_ news: Channel, _ answers: [RouteSocket.Outcome]) throws -> (NetworkPath, Channel) {
            let channel = Channel(answers)
            let monitor = try #require(RouteMonitor(news: news, answers: channel))
            return (NetworkPath(watching: monitor), channel)
        }

        @Test func `Every change is a reason to ask for everything`() async throws {
            let news = Channel()
            let (path, answers) = try path(news, Self.offline + Self.online)
            #expect(path.level == .none && answers.questions == 3)
            await eventually { news.isWatched }
            news.tell(.messages([Self.link]))
            await eventually { path.level == .routed }
            #expect(answers.questions == 6)
        }

        @Test func `What is known already is no reason to ask`() async throws {
            let news = Channel()
            let (path, answers) = try path(news, Self.online + Self.offline)
            await eventually { news.isWatched }
            news.tell(.messages([Self.link, Self.address, Self.route]))
            news.tell(.messages([.linkRemoved(index: 2)]))
            await eventually { path.level == .none }
            #expect(answers.questions == 6)
        }

        @Test(arguments: [.lost, .messages([.overrun])] as [RouteSocket.Outcome])
        func `News that were lost are a reason to ask`(outcome: RouteSocket.Outcome) async throws {
            let news = Channel()
            let (path, _) = try path(news, Self.offline + Self.online)
            await eventually { news.isWatched }
            news.tell(outcome)
            await eventually { path.level == .routed }
        }

        @Test(
            arguments: [
                [.lost], [.nothing], [.failed], [.messages([.overrun, .end]), .messages([.end]), .messages([.end])],
                [.messages([.interrupted, .end]), .messages([.end]), .messages([.end])],
                [.messages([.refused(16)])],
            ] as [[RouteSocket.Outcome]])
        func `An answer that is not whole twice is asked for again`(outcomes: [RouteSocket.Outcome]) async throws {
            let news = Channel()
            let (path, _) = try path(news, Self.offline + outcomes + outcomes + Self.online)
            await eventually { news.isWatched }
            news.tell(.lost)
            await eventually { path.level == .routed }
        }

        @Test func `Until the answer is whole what was told last holds`() async throws {
            let (news, answers) = (Channel(), Channel(Self.online + [.lost, .lost] + Self.offline))
            let monitor = try #require(RouteMonitor(news: news, answers: answers))
            #expect(monitor.initial.level == .routed)
            let told = Collector<NetworkPath.Reading>()
            monitor.start { told.append($0) }
            await eventually { news.isWatched }
            news.tell(.messages([.linkRemoved(index: 2)]))
            await told.count(1)
            #expect(told.elements[0].level == .none && answers.questions == 8)
            monitor.stop()
        }

        @Test func `A machine whose first answer is not whole counts as reachable until it is`() async throws {
            let (path, _) = try path(Channel(), [.lost] + Self.offline)
            #expect(path.level == .routed)
            await eventually { path.level == .none }
        }

        @Test func `Where nobody may ask there is no monitor`() {
            #expect(RouteMonitor(news: Channel(), answers: Channel([.messages([.refused(1)])])) == nil)
        }

        @Test func `A machine whose news end counts as reachable from then on`() async throws {
            let news = Channel()
            let (path, _) = try path(news, Self.offline)
            await eventually { news.isWatched }
            news.tell(.failed)
            await eventually { path.level == .routed && !news.isWatched }
        }

        @Test(.enabled(if: NetworkNamespace.isAllowed, "only root may send to a program's socket"))
        func `What another than the kernel sends is not believed`() throws {
            let socket = try #require(RouteSocket(hearsOfChanges: false))
            try Self.send(RouteMessageTests.Bytes.message(3, []), to: Self.port(of: socket.descriptor))
            guard case .messages(let messages) = socket.receive(waiting: true) else {
                Issue.record("The message did not come.")
                return
            }
            #expect(messages.isEmpty)
        }

        /// struct sockaddr_nl
        private typealias Address = (UInt16, UInt16, UInt32, UInt32)

        /// The port that the kernel gave to a socket of rtnetlink.
        private static func port(of descriptor: Int32) throws -> UInt32 {
            var address: Address = (0, 0, 0, 0)
            var size = socklen_t(MemoryLayout<Address>.size)
            let status = withUnsafeMutableBytes(of: &address) { bytes in
                // Twelve bytes, which are not empty.
                getsockname(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
            }
            try #require(status == 0 && address.2 != 0)
            return address.2
        }

        private static func send(_ message: [UInt8], to port: UInt32) throws {
            let descriptor = socket(16, 3, 0)
            defer { close(descriptor) }
            let address: Address = (16, 0, port, 0)
            let sent = withUnsafeBytes(of: address) { bytes in
                // Twelve bytes, which are not empty.
                let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                return sendto(descriptor, message, message.count, 0, address, socklen_t(bytes.count))
            }
            try #require(sent == message.count)
        }
    }
#endif
