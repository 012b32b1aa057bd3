import Foundation

/// Ports of the loopback interface.
enum FreePorts {
    /// Ports on which nobody listens, as the kernel chose them a moment ago.
    static func find(_ count: Int) throws -> [Int] {
        // All are held until all are known, lest one be given twice.
        let sockets = try (0..<count).map { _ in try boundSocket() }
        defer { for (socket, _) in sockets { close(socket) } }
        return sockets.map(\.port)
    }

    /// Whether somebody accepts connections at a port.
    static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = loopback(port)
        return withSocketAddress(&address) { connect(descriptor, $0, $1) } == 0
    }

    private static func boundSocket() throws -> (Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard withSocketAddress(&address, { bind(descriptor, $0, $1) }) == 0,
            withSocketAddress(&address, { pointer, _ in getsockname(descriptor, pointer, &length) }) == 0
        else { throw BenchmarkError("no free port: \(String(cString: strerror(errno)))") }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func loopback(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
