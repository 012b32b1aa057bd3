#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import Testing

    @testable import RequestOperations

    /// What the sockets of connections tell before a request goes over them.
    struct ConnectionTableTests {
        private let driver = CurlDriver(CurlTransport.with { _ in }.configuration)
        private let table: ConnectionTable
        private let origin: OriginQueue

        init() throws {
            table = driver.sockets
            origin = try Self.queue("own.example", driver)
        }

        private static func queue(_ host: String, _ driver: CurlDriver) throws -> OriginQueue {
            OriginQueue(of: try CurlTransfer.to(host, over: driver), mayShare: false)
        }

        private func queue(_ host: String) throws -> OriginQueue { try Self.queue(host, driver) }

        private func isEnded(for queue: OriginQueue, isPlain: Bool) -> Bool {
            if case .ended = table.reuse(localPort: 0, for: queue, isPlain: isPlain) { true } else { false }
        }

        private func socket(for queue: OriginQueue) -> Int32? {
            guard case .usable(let known) = table.reuse(localPort: 0, for: queue, isPlain: true) else { return nil }
            return known?.socket
        }

        /// Both ends of a connection without ports.
        private static func pair() -> (near: Int32, far: Int32) {
            var ends: [Int32] = [-1, -1]
            socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            return (ends[0], ends[1])
        }

        @Test func `A connection without input has not ended`() {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            #expect(table.register([near], localPort: 0, for: origin)?.socket == near)
            #expect(socket(for: origin) == near)
        }

        @Test func `A connection counts for each origin whose requests went over it`() throws {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            let other = try queue("other.example")
            _ = table.register([near], localPort: 0, for: origin)
            #expect(origin.connections == 1 && other.connections == 0)
            for _ in 1...2 { _ = table.reuse(localPort: 0, for: other, isPlain: false) }
            #expect(origin.connections == 1 && other.connections == 1)
            table.noteClosed(near)
            #expect(origin.connections == 0 && other.connections == 0)
        }

        @Test func `The longest silence of its users counts for a connection`() {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            let connection = EstablishedConnection(near, for: origin)
            for (limit, longest) in [(5, 5), (3, 5), (6, 6), (nil, Int64.max)] as [(Int64?, Int64)] {
                connection.limitSilence(to: limit)
                #expect(connection.longestIdleLimit == longest)
            }
        }

        @Test func `Input that nobody asked for ends a plain connection and no other`() {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            _ = table.register([near], localPort: 0, for: origin)
            #expect(write(far, "x", 1) == 1)
            #expect(isEnded(for: origin, isPlain: true) && !isEnded(for: origin, isPlain: false))
        }

        @Test(arguments: [false, true])
        func `An end counts for every connection, even behind the message that closes TLS`(hasMessage: Bool) {
            let (near, far) = Self.pair()
            defer { close(near) }
            _ = table.register([near], localPort: 0, for: origin)
            if hasMessage { #expect(write(far, "x", 1) == 1) }
            close(far)
            #expect(isEnded(for: origin, isPlain: false))
        }

        @Test func `A socket that is closed, or was never made, is forgotten`() {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            #expect(
                table.register([], localPort: 0, for: origin) == nil
                    && table.register([near], localPort: 1, for: origin) == nil)
            _ = table.register([near], localPort: 0, for: origin)
            table.noteClosed(near)
            #expect(socket(for: origin) == nil && origin.connections == 0)
        }

        @Test func `Of connections that share a port, the one to the origin counts`() throws {
            let pairs = [Self.pair(), Self.pair()]
            defer { for pair in pairs { close(pair.near) } }
            let other = try queue("other.example")
            _ = table.register([pairs[0].near], localPort: 0, for: origin)
            _ = table.register([pairs[1].near], localPort: 0, for: other)
            #expect(socket(for: other) == pairs[1].near)
            close(pairs[0].far)
            #expect(isEnded(for: origin, isPlain: true))
            #expect(!isEnded(for: other, isPlain: true))
            // Behind a proxy.
            let third = try queue("third.example")
            #expect(socket(for: third) == nil)
            #expect(isEnded(for: third, isPlain: true))
            close(pairs[1].far)
        }
    }

    struct LookupsTests {
        private let driver = CurlDriver(CurlTransport.with { _ in }.configuration)

        private func lines(_ count: Int) throws -> [OriginQueue] {
            try (0..<count).map { OriginQueue(of: try CurlTransfer.to("\($0).example", over: driver), mayShare: false) }
        }

        @Test func `As many look-ups begin as the bound says, and the next ones when some end`() throws {
            var lookups = Lookups(bound: 2)
            let lines = try lines(2)
            for _ in 1...2 { lookups.begin() }
            for line in lines + lines { lookups.wait(line) }
            let none = lookups.next(at: 0)
            #expect(!lookups.hasRoom && none == nil && lookups.deadline == .max)
            lookups.end()
            #expect(lookups.deadline == 0)
            let next = [lookups.next(at: 0), lookups.next(at: 0), lookups.next(at: 0)]
            #expect(next[0] === lines[0] && next[1] === lines[1] && next[2] == nil)
        }

        @Test func `A look-up of a transfer that has ended counts for a while`() throws {
            var lookups = Lookups(bound: 1)
            let lines = try lines(1)
            lookups.begin()
            lookups.abandon(at: 0)
            lookups.end()
            lookups.wait(lines[0])
            let none = lookups.next(at: 1)
            #expect(none == nil && lookups.deadline < .max)
            let later = lookups.next(at: lookups.deadline)
            #expect(later === lines[0])
        }
    }
#endif
