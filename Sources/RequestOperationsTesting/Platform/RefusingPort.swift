import Foundation

/// A port of 127.0.0.1 that refuses connections. It is taken, so no one else can get it, but nothing listens on it.
package final class RefusingPort: Sendable {
    /// The port.
    package let number: Int

    /// The URL of a server there.
    package let url: URL

    private let socket: Socket

    package init() throws {
        socket = try Socket.bound(to: .ipv4, port: 0)
        number = socket.port
        // A URL with a port number is always valid.
        url = URL(string: "http://127.0.0.1:\(number)/")!
    }
}
