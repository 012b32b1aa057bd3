#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Glibc
    import Testing

    @testable import RequestOperations

    /// What the sockets of connections tell before a request goes over them.
    struct ConnectionTableTests {
        private let table = ConnectionTable()
        private let origin: Origin

        init() throws {
            origin = Self.origin("own.example")
        }

        private static func origin(_ host: String) -> Origin {
            // The text is that of a URL.
            Origin(URL(string: "https://\(host)")!)
        }

        private func isEnded(for origin: Origin, isPlain: Bool) -> Bool {
            if case .ended = table.reuse(localPort: 0, origin: origin, isPlain: isPlain) { true } else { false }
        }

        private func socket(for origin: Origin) -> Int32? {
            guard case .usable(let known) = table.reuse(localPort: 0, origin: origin, isPlain: true) else { return nil }
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
            #expect(table.register([near], localPort: 0, origin: origin)?.socket == near)
            #expect(socket(for: origin) == near)
        }

        @Test func `A connection counts for each origin whose requests may share it`() {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            let other = Self.origin("other.example")
            _ = table.register([near], localPort: 0, origin: origin)
            #expect(table.reached(origin) == nil)
            for _ in 1...2 {
                for sharer in [origin, other] {
                    _ = table.reuse(localPort: 0, origin: sharer, isPlain: false, mayShare: true)
                }
            }
            #expect(table.reached(origin)?.connections == 1 && table.reached(other)?.connections == 1)
            table.noteClosed(near)
            #expect(table.reached(origin) == nil && table.reached(other) == nil)
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
            _ = table.register([near], localPort: 0, origin: origin)
            #expect(write(far, "x", 1) == 1)
            #expect(isEnded(for: origin, isPlain: true) && !isEnded(for: origin, isPlain: false))
        }

        @Test(arguments: [false, true])
        func `An end counts for every connection, even behind the message that closes TLS`(hasMessage: Bool) {
            let (near, far) = Self.pair()
            defer { close(near) }
            _ = table.register([near], localPort: 0, origin: origin)
            if hasMessage { #expect(write(far, "x", 1) == 1) }
            close(far)
            #expect(isEnded(for: origin, isPlain: false))
        }

        @Test func `A socket that is closed, or was never made, is forgotten`() {
            let (near, far) = Self.pair()
            defer { for end in [near, far] { close(end) } }
            #expect(
                table.register([], localPort: 0, origin: origin) == nil
                    && table.register([near], localPort: 1, origin: origin) == nil)
            _ = table.register([near], localPort: 0, origin: origin)
            table.noteClosed(near)
            #expect(table.count == 0 && socket(for: origin) == nil)
        }

        @Test func `Of connections that share a port, the one to the origin counts`() throws {
            let pairs = [Self.pair(), Self.pair()]
            defer { for pair in pairs { close(pair.near) } }
            let other = Self.origin("other.example")
            _ = table.register([pairs[0].near], localPort: 0, origin: origin)
            _ = table.register([pairs[1].near], localPort: 0, origin: other)
            #expect(socket(for: other) == pairs[1].near)
            close(pairs[0].far)
            #expect(isEnded(for: origin, isPlain: true))
            #expect(!isEnded(for: other, isPlain: true))
            // Behind a proxy.
            let third = Self.origin("third.example")
            #expect(socket(for: third) == nil)
            #expect(isEnded(for: third, isPlain: true))
            close(pairs[1].far)
        }
    }
#endif
