import Foundation

/// Accepts connections and gives each a thread, until its alarm wakes it.
struct Acceptor: Sendable {
    let listeners: [Socket]
    let alarm: Socket
    let core: ServerCore

    func run() {
        while true {
            Socket.waitForAny(of: listeners + [alarm])
            guard !alarm.wait(for: .readable, milliseconds: 0).contains(.readable) else { return }
            for listener in listeners { acceptAll(from: listener) }
        }
    }

    private func acceptAll(from listener: Socket) {
        do throws(SocketError) {
            while let socket = try listener.accept() { serve(socket) }
        } catch {
            // No descriptor is left, or the server is being stopped. Wait for either to change.
            _ = alarm.wait(for: .readable, milliseconds: 10)
        }
    }

    private func serve(_ socket: Socket) {
        let core = core
        guard let id = core.update({ $0.connectionOpened(socket) }) else { return }
        let isServed = DetachedThread.start { Connection(id: id, socket: socket, core: core).run() }
        guard !isServed else { return }
        socket.shutDown()
        core.advance { $0.connectionEnded(id, .closedByServer, at: .now) }
        core.update { $0.connectionReleased(id) }
    }
}
