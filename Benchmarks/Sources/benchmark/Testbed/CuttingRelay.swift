import Foundation

/// Forwards connections to a server, and cuts each of them at some time: what a server cannot do by itself to a connection
/// that is encrypted or shared, it suffers here.
final class CuttingRelay: Sendable {
    /// How a connection is cut.
    private enum Cut: CaseIterable {
        case reset
        case truncation
        case stall
    }

    /// How many bytes of the server pass before a connection is cut, at most, as a power of two: from within the handshake of TLS
    /// to what only a connection lives to that many requests share.
    private static let exponents = 10...28
    /// How long a connection is silent that stalls, before it is reset: longer than anybody waits.
    private static let silence = 1.0

    private let listener: LoopbackSocket
    private let server: Int
    /// Where it listens.
    let port: Int

    /// Starts one in front of a port.
    init(to server: Int) throws {
        self.server = server
        listener = try .bound()
        port = try listener.port()
        try listener.listen()
        Thread.detachNewThread { [listener] in
            while let client = listener.accept() { Self.forward(client, to: server) }
        }
    }

    /// Accepts no more connections. Those there are end with their client or their server.
    func stop() {
        listener.shutDown()
    }

    private static func forward(_ client: LoopbackSocket, to port: Int) {
        // Without a server the client is closed, as it goes out of scope.
        guard let server = try? LoopbackSocket.connected(to: port) else { return }
        Thread.detachNewThread {
            _ = pass(from: client, to: server, atMost: .max)
            server.shutDown()
        }
        Thread.detachNewThread {
            let limit = Int.random(in: 0..<(1 << Int.random(in: exponents)))
            let isCut = pass(from: server, to: client, atMost: limit)
            end(client, by: isCut ? Cut.allCases.randomElement() : nil)
            server.shutDown()
        }
    }

    /// Ends a connection in order if it is not to be cut.
    private static func end(_ client: LoopbackSocket, by cut: Cut?) {
        switch cut {
        case .reset: client.reset()
        case .stall:
            Thread.sleep(forTimeInterval: silence)
            client.reset()
        case .truncation, nil: client.shutDown()
        }
    }

    /// Passes so many bytes at most; returns false if a connection ends before.
    private static func pass(from source: LoopbackSocket, to target: LoopbackSocket, atMost limit: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 1) { buffer in
            var left = limit
            while left > 0 {
                let count = min(source.receive(into: buffer), left)
                guard count > 0, target.send(UnsafeRawBufferPointer(rebasing: buffer.prefix(count))) else {
                    return false
                }
                left -= count
            }
            return true
        }
    }
}
