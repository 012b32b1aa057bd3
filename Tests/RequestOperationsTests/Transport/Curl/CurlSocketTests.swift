#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Foundation
    import Glibc
    import RequestOperationsTesting
    import Testing

    @testable import RequestOperations

    /// What the sockets of connections are set to.
    struct CurlSocketTests {
        @Test func `A connection begins with a receive buffer of 512 KiB, if that may be and can still grow`()
            async throws
        {
            let other = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(other) }
            let usual = try #require(option(SO_RCVBUF, of: other))
            var half = Int32(rocurl_receive_buffer / 2)
            setsockopt(other, SOL_SOCKET, SO_RCVBUF, &half, socklen_t(MemoryLayout<Int32>.size))
            let possible = try #require(option(SO_RCVBUF, of: other))
            try await withConnection { connection in
                let size = try #require(option(SO_RCVBUF, of: connection))
                guard let lock = option(bufferLock, of: connection) else {
                    // Before Linux 5.15 a size that is set is final.
                    #expect(size == usual)
                    return
                }
                #expect(lock == 0 && (size >= max(usual, possible) || possible < usual))
            }
        }

        @Test func `Of what cannot be sent yet the kernel is told to take 128 KiB for a connection`() async throws {
            try await withConnection { connection in
                guard option(bufferLock, of: connection) != nil else { return }
                #expect(option(TCP_NOTSENT_LOWAT, at: Int32(IPPROTO_TCP), of: connection) == 128 << 10)
            }
        }

        /// `SO_BUF_LOCK`, of which older headers do not know.
        private let bufferLock: Int32 = 72

        private func withConnection(_ body: (Int32) throws -> Void) async throws {
            let server = try await LoopbackServer.start { _ in .text("here") }
            let transport = CurlTransport.with { _ in }
            _ = try await transport.get(server.url)
            try body(try #require(try descriptor(ofConnectionTo: server.url.port)))
            withExtendedLifetime(transport) {}
        }

        /// That of the only connection to a port of this machine.
        private func descriptor(ofConnectionTo port: Int?) throws -> Int32? {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
                .first { descriptor in
                    var ends = rocurl_ends()
                    return rocurl_find_ends(descriptor, &ends) && Int(ends.remote_port) == port
                }
        }

        private func option(_ name: Int32, at level: Int32 = SOL_SOCKET, of descriptor: Int32) -> Int? {
            var value: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            return getsockopt(descriptor, level, name, &value, &length) == 0 ? Int(value) : nil
        }
    }
#endif
