/// Ports of the loopback interface.
enum FreePorts {
    /// Ports on which nobody listens, as the kernel chose them a moment ago.
    static func find(_ count: Int) throws -> [Int] {
        // All are held until all are known, lest one be given twice.
        let sockets = try (0..<count).map { _ in try LoopbackSocket.bound() }
        return try sockets.map { try $0.port() }
    }

    /// Whether somebody accepts connections at a port.
    static func isListening(_ port: Int) -> Bool {
        (try? LoopbackSocket.connected(to: port)) != nil
    }
}
