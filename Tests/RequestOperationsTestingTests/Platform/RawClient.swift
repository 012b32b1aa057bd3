import Foundation

/// A plain TCP client on 127.0.0.1 that sends bytes as they are, for what curl would refuse to send or tidy up.
final class RawClient {
    struct Failure: Error {
        let errno: Int32
    }

    private let descriptor: Int32

    /// Runs `body` with a connection on a thread of its own, so that it may block; every wait ends after ten seconds.
    static func connected<Result: Sendable>(
        to port: Int, _ body: @escaping @Sendable (RawClient) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Swift.Result { () throws -> Result in try body(RawClient(port: port)) })
            }
        }
    }

    /// Sends `request` and returns everything up to the end of the connection.
    static func exchange(_ port: Int, _ request: String) async throws -> String {
        try await connected(to: port) { client in
            try client.send(request)
            return try client.receiveAll()
        }
    }

    init(port: Int) throws {
        #if canImport(Glibc)
            let type = Int32(SOCK_STREAM.rawValue)
        #else
            let type = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw Failure(errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var endpoint = sockaddr_in()
        endpoint.sin_family = sa_family_t(AF_INET)
        endpoint.sin_port = in_port_t(port).bigEndian
        endpoint.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &endpoint) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw Failure(errno: errno) }
    }

    deinit {
        close(descriptor)
    }

    func send(_ text: String) throws {
        try send(Data(text.utf8))
    }

    func send(_ data: Data) throws {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        try data.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let piece = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                #if canImport(Darwin)
                    let count = Darwin.send(descriptor, piece.baseAddress, piece.count, flags)
                #else
                    let count = Glibc.send(descriptor, piece.baseAddress, piece.count, flags)
                #endif
                guard count >= 0 else { throw Failure(errno: errno) }
                offset += count
            }
        }
    }

    /// The bytes that come next, at least one of them; empty at the end of the connection.
    func receive() throws -> Data {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count >= 0 else { throw Failure(errno: errno) }
        return Data(buffer[..<count])
    }

    /// Reads until what has come ends with `suffix`.
    func receive(through suffix: String) throws -> String {
        var received = Data()
        while !received.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) {
            let piece = try receive()
            guard !piece.isEmpty else { break }
            received += piece
        }
        return String(decoding: received, as: UTF8.self)
    }

    /// Reads to the end of the connection.
    func receiveAll() throws -> String {
        var received = Data()
        while case let piece = try receive(), !piece.isEmpty { received += piece }
        return String(decoding: received, as: UTF8.self)
    }

    /// Says that nothing more will be sent, and goes on reading.
    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the end of this connection a reset.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
