import Foundation

/// A port of 127.0.0.1 where connections are refused: it is taken, so nobody else can get it, and nobody listens.
package final class RefusingPort: Sendable {
    /// The port.
    package let number: Int

    /// The URL of a server there.
    package let url: URL

    private let socket: Socket

    package init() throws {
        socket = try Socket.bound(to: .ipv4, port: 0)
        number = socket.port
        // A number makes a URL.
        url = URL(string: "http://127.0.0.1:\(number)/")!
    }
}
