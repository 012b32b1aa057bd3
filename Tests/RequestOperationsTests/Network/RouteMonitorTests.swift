#if os(Linux)
    import Foundation
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    /// The kernel's own changes, in a network of the test's own.
    @Suite(
        .enabled(if: NetworkNamespace.isAllowed, "a network namespace takes the rights of root, and ip(8)"),
        .timeLimit(.minutes(15)))
    struct RouteMonitorTests {
        private let namespace = NetworkNamespace()
        private let readings = Locked(0)

        /// A path in the namespace, where a pair of linked interfaces is made, of which the first is down.
        private func path() async throws -> NetworkPath {
            try await namespace.ip("link add test0 type veth peer name test1")
            try await namespace.ip("link set test1 up")
            try await namespace.ip("addr add 10.201.0.1/24 dev test0")
            return try await watched()
        }

        private func watched() async throws -> NetworkPath {
            NetworkPath(watching: try await monitor())
        }

        /// A monitor whose socket is in the namespace, and which reads there. What it asks of Dispatch must not be asked
        /// there.
        private func monitor() async throws -> RouteMonitor {
            let (namespace, readings) = (namespace, readings)
            let channel = try await namespace.run { try #require(RouteMonitor.openChannel()) }
            return try await onBlockingThread {
                RouteMonitor(channel: channel) {
                    defer { readings.withLock { $0 += 1 } }
                    return namespace.wait { LinkTable.read()?.reading(description: LinkTable.description) }
                }
            }
        }

        /// Makes a change, and waits until the state has been read anew.
        private func change(_ line: String) async throws {
            let count = readings.withLock { $0 }
            try await namespace.ip(line)
            await eventually { readings.withLock { $0 } > count }
        }

        /// Waits for a value of a path.
        private func reached(_ reachability: Reachability, _ path: NetworkPath) async {
            for await next in path.changes where next == reachability { return }
        }

        @Test func `No thread that serves others is in the namespace`() async throws {
            // In a process where Dispatch has no threads yet, and starts them.
            await #expect(processExitsWith: .success) {
                let tests = RouteMonitorTests()
                let path = try await tests.path()
                try await tests.namespace.ip("link set test0 up")
                await tests.reached(.reachable(.wired), path)
                // Besides its own there are those that waited for ip(8), which end. One of Dispatch's stays for five seconds.
                let end = ContinuousClock.now + .seconds(3)
                var isLate = false
                while try await tests.namespace.threadCount() > 1 {
                    if isLate { exit(EXIT_FAILURE) }
                    isLate = ContinuousClock.now > end
                }
            }
        }

        @Test func `The link that goes up and down is seen`() async throws {
            let path = try await path()
            #expect(path.reachability == .unreachable)
            try await namespace.ip("link set test0 up")
            await reached(.reachable(.wired), path)
            try await namespace.ip("link set test0 down")
            await reached(.unreachable, path)
        }

        @Test func `The other end that goes down is seen`() async throws {
            let path = try await path()
            try await namespace.ip("link set test0 up")
            await reached(.reachable(.wired), path)
            try await namespace.ip("link set test1 down")
            await reached(.unreachable, path)
        }

        /// A path in the namespace, where there is another network without a default route, and one with it that has just lost
        /// its carrier.
        private func pulledPath() async throws -> NetworkPath {
            try await namespace.ip("link add docker0 type veth peer name docker1")
            try await namespace.ip("addr add 172.17.0.1/16 dev docker0")
            for link in ["docker0", "docker1"] { try await namespace.ip("link set \(link) up") }
            let path = try await path()
            try await namespace.ip("link set test0 up")
            try await namespace.ip("route add default via 10.201.0.2")
            await eventually { path.level == .routed }
            try await namespace.ip("link set test1 down")
            await eventually { path.level == .local }
            return path
        }

        @Test func `A cable that is put back wakes those who wait though another network was there`() async throws {
            let path = try await pulledPath()
            let isWoken = Door()
            let remove = path.watch { _ in
                isWoken.open()
                return {}
            }
            try await namespace.ip("link set test1 up")
            await isWoken.pass()
            remove()
        }

        @Test func `A link that is switched off and on has no default route until that is told`() async throws {
            let path = try await pulledPath()
            try await namespace.ip("link set test1 up")
            await eventually { path.level == .routed }
            for link in ["docker0", "test0"] { try await namespace.ip("link set \(link) down") }
            await eventually { path.level == .none }
            try await namespace.ip("link set test0 up")
            await eventually { path.level != .none }
            #expect(path.level == .local)
            try await namespace.ip("route add default via 10.201.0.2")
            await eventually { path.level == .routed }
        }

        @Test func `A default route that replaces another is the only one`() async throws {
            let path = try await pulledPath()
            try await namespace.ip("link set test1 up")
            await eventually { path.level == .routed }
            try await namespace.ip("route replace default via 172.17.0.2")
            try await namespace.ip("link set docker1 down")
            await eventually { path.level == .local }
        }

        @Test func `A default route by two links is there as long as one of them is`() async throws {
            let path = try await pulledPath()
            try await namespace.ip("link set test1 up")
            try await namespace.ip("route del default")
            try await namespace.ip("route add default nexthop via 10.201.0.2 nexthop via 172.17.0.2")
            await eventually { path.level == .routed }
            try await namespace.ip("link set test0 down")
            try await namespace.ip("link set docker1 down")
            await eventually { path.level == .none }
            try await namespace.ip("link set docker1 up")
            await eventually { path.level == .routed }
        }

        @Test func `The address that comes and goes is seen`() async throws {
            try await namespace.ip("link add test0 type veth peer name test1")
            try await namespace.ip("link set test1 up")
            try await namespace.ip("link set test0 up")
            let path = try await watched()
            #expect(path.reachability == .unreachable)
            try await namespace.ip("addr add 10.201.0.1/24 dev test0")
            await reached(.reachable(.wired), path)
            try await namespace.ip("addr del 10.201.0.1/24 dev test0")
            await reached(.unreachable, path)
        }

        @Test func `What is there at the beginning is read`() async throws {
            _ = try await path()
            try await namespace.ip("link set test0 up")
            try await namespace.ip("route add default via 10.201.0.2")
            let initial = try await monitor().initial
            #expect(initial == NetworkPath.Reading(level: .routed, interface: .wired))
        }

        @Test func `The default route that comes wakes those who wait`() async throws {
            let path = try await path()
            try await namespace.ip("link set test0 up")
            await reached(.reachable(.wired), path)
            let isWoken = Door()
            let remove = path.watch { _ in
                isWoken.open()
                return {}
            }
            try await namespace.ip("route add default via 10.201.0.2")
            await isWoken.pass()
            remove()
        }

        @Test func `A request that waits for a network goes out when the link is up and never before`() async throws {
            let path = try await path()
            let transport = ScriptedTransport([.body(Data())])
            var configuration = RequestConfiguration.over(transport)
            configuration.waitsForConnectivity = true
            configuration.networkPath = path
            let operation = URLRequestOperation(anyRequest, configuration: configuration)
            OperationQueue().addOperation(operation)
            await eventually { path.waitingCount == 1 }
            try await change("addr add 10.201.0.9/24 dev test0")
            #expect(transport.requests.isEmpty)
            try await namespace.ip("link set test0 up")
            _ = try await operation.value
        }

        @Test func `A request that waits goes out with the link and never before`() async throws {
            let path = try await path()
            let transport = ScriptedTransport([.error(.notConnected), .body(Data())])
            var configuration = RequestConfiguration.over(transport)
            configuration.retryPolicy = RetryPolicy(backoff: .constant(.seconds(50)))
            configuration.retryPolicy.earlyRetryObservers = [
                ReachabilityObserver(path: path, spread: .milliseconds(100))
            ]
            let operation = URLRequestOperation(anyRequest, configuration: configuration)
            OperationQueue().addOperation(operation)
            await eventually { path.waitingCount == 1 }
            try await changeLinkThatStaysDown()
            #expect(path.waitingCount == 1 && transport.requests.count == 1)
            try await namespace.ip("link set test0 up")
            _ = try await operation.value
            #expect(operation.attempts.last?.wokenBy == .observer("ReachabilityObserver"))
        }

        /// All that happens to a link that stays down, and another link that goes up without an address, and goes.
        private func changeLinkThatStaysDown() async throws {
            let lines = [
                "link set test0 mtu 1400", "addr add 10.201.0.9/24 dev test0", "link add test2 type veth",
                "link set test2 up", "link del test2", "addr del 10.201.0.9/24 dev test0",
            ]
            for line in lines { try await change(line) }
        }
    }

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
