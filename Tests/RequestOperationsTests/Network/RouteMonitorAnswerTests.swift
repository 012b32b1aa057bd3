#if os(Linux)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    /// When the state is read, and what becomes of readings that fail.
    @Suite(.timeLimit(.minutes(15))) struct RouteMonitorAnswerTests {
        /// Stands in the place of the kernel's socket, and tells what a test wants.
        private final class Kernel: Sendable {
            let channel: FileHandle
            private let peer: FileHandle
            private let answers: Locked<[NetworkPath.Reading?]>
            private let count = Locked(0)

            init(_ answers: [NetworkPath.Reading?], over kind: __socket_type = SOCK_SEQPACKET) {
                var ends: [Int32] = [-1, -1]
                precondition(socketpair(AF_UNIX, Int32(kind.rawValue), 0, &ends) == 0)
                channel = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
                peer = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
                self.answers = Locked(answers)
            }

            /// Whether no message is pending.
            var isHeard: Bool {
                var byte: UInt8 = 0
                // MSG_DONTWAIT and MSG_PEEK.
                return recv(channel.fileDescriptor, &byte, 1, 0x40 | 0x2) == -1 && errno == EAGAIN
            }

            var readings: Int { count.withLock { $0 } }

            func monitor() -> RouteMonitor {
                RouteMonitor(channel: channel) { [self] in
                    count.withLock { $0 += 1 }
                    return answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                }
            }

            func tell(_ news: String = "news", times: Int = 1) throws {
                for _ in 0..<times { try peer.write(contentsOf: Data(news.utf8)) }
            }

            func close() throws { try peer.close() }
        }

        private static let offline = NetworkPath.Reading(level: .none, interface: .other)
        private static let online = NetworkPath.Reading(level: .routed, interface: .wired)

        @Test func `Every change is a reason to read everything`() async throws {
            let kernel = Kernel([Self.offline, Self.online, Self.offline])
            let path = NetworkPath(watching: kernel.monitor())
            #expect(path.level == .none && kernel.readings == 1)
            try kernel.tell()
            await eventually { path.level == .routed }
            try kernel.tell()
            await eventually { path.level == .none }
        }

        @Test func `Changes that come together are read once`() async throws {
            let kernel = Kernel([Self.offline, Self.online])
            let monitor = kernel.monitor()
            try kernel.tell(times: 10)
            let told = Collector<NetworkPath.Reading>()
            monitor.start { told.append($0) }
            await told.count(1)
            monitor.stop()
            #expect(told.elements[0].level == .routed && kernel.readings == 2)
        }

        @Test func `Changes are taken to the last however many there are`() async throws {
            // Each byte of a stream is one message.
            let kernel = Kernel([Self.offline, Self.online], over: SOCK_STREAM)
            try kernel.tell(String(repeating: "n", count: 4_000))
            let monitor = kernel.monitor()
            monitor.start { _ in }
            await eventually { kernel.isHeard }
            monitor.stop()
        }

        @Test func `A reading that fails twice is done again`() async throws {
            let kernel = Kernel([Self.offline, nil, nil, Self.online])
            let path = NetworkPath(watching: kernel.monitor())
            try kernel.tell()
            await eventually { path.level == .routed }
        }

        @Test func `Until a reading succeeds what was told last holds`() async throws {
            let kernel = Kernel([Self.online, nil, nil, Self.offline])
            let monitor = kernel.monitor()
            #expect(monitor.initial.level == .routed)
            let told = Collector<NetworkPath.Reading>()
            monitor.start { told.append($0) }
            try kernel.tell()
            await told.count(1)
            #expect(told.elements[0].level == .none && kernel.readings == 4)
            monitor.stop()
        }

        @Test func `A machine whose first reading fails counts as reachable until one succeeds`() async throws {
            let path = NetworkPath(watching: Kernel([nil, Self.offline]).monitor())
            #expect(path.level == .routed)
            await eventually { path.level == .none }
        }

        @Test func `A machine whose news end counts as reachable from then on`() async throws {
            let kernel = Kernel([Self.offline])
            let path = NetworkPath(watching: kernel.monitor())
            try kernel.close()
            await eventually { path.level == .routed }
        }

        @Test(.enabled(if: NetworkNamespace.isAllowed, "only a network of its own has changes of the test's own"))
        func `News that were lost are a reason to read`() async throws {
            let namespace = NetworkNamespace()
            let channel = try await namespace.run { try #require(RouteMonitor.openChannel()) }
            var size: Int32 = 1
            try #require(setsockopt(channel.fileDescriptor, SOL_SOCKET, SO_RCVBUF, &size, 4) == 0)
            for number in 0..<20 { try await namespace.ip("link add name\(number) type veth") }
            var byte: UInt8 = 0
            #expect(recv(channel.fileDescriptor, &byte, 1, 0x40 | 0x2) == -1 && errno == ENOBUFS)
            for number in 20..<40 { try await namespace.ip("link add name\(number) type veth") }
            let answers = Locked([Self.offline, Self.online])
            let path = NetworkPath(
                watching: RouteMonitor(channel: channel) { answers.withLock { $0.isEmpty ? nil : $0.removeFirst() } })
            await eventually { path.level == .routed }
        }
    }
#endif
