/// A port of 127.0.0.1 that neither accepts nor refuses connections. Its queue is full and nothing accepts.
package final class UnansweredPort: Sendable {
    /// The port.
    package let number: Int

    private let listener: Socket
    private let queued: [Socket]

    /// The local ports of the connections that fill the queue.
    package var queuedPorts: [Int] { queued.map(\.port) }

    /// - Throws: A description of the system call that failed.
    package init() throws {
        listener = try Socket.listening(on: .ipv4, port: 0, backlog: 0)
        number = listener.port
        // The kernel completes one or two connections more than the backlog. After that it drops requests to connect.
        queued = try (0..<8).map { [number] _ throws(SocketError) in try Socket.connecting(toPort: number) }
    }
}
