#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The sockets of a driver, and its established connections. libcurl names a connection by its local port, so they are
    /// found by that.
    ///
    /// Connections to different servers may share a local port, and Unix sockets have none. Then those count that were
    /// made for the origin of the request. If none was, as behind a proxy, all of them count. If any of these has ended,
    /// the request goes over a new connection.
    // Unchecked: only the thread of its driver touches it.
    final class ConnectionTable: @unchecked Sendable {
        /// What a request finds that libcurl is about to send over an old connection.
        enum Reuse {
            /// That connection has ended.
            case ended
            /// The connection; `nil` if it cannot be distinguished from others.
            case usable(EstablishedConnection?)
        }

        private var sockets: Set<Int32> = []
        private var ports: [Int32: Int32] = [:]
        private var connections: [Int32: [EstablishedConnection]] = [:]

        /// How many sockets there are, with those that are being connected.
        var count: Int { sockets.count }

        /// A socket was made. (libcurl may have closed an earlier socket of that number without a report.)
        func noteOpened(_ socket: Int32) {
            sockets.insert(socket)
        }

        func noteClosed(_ socket: Int32) {
            sockets.remove(socket)
            forgetConnection(socket)
        }

        private func forgetConnection(_ socket: Int32) {
            guard let port = ports.removeValue(forKey: socket),
                let index = connections[port]?.firstIndex(where: { $0.socket == socket }),
                let closed = connections[port]?.remove(at: index)
            else { return }
            if connections[port]?.isEmpty == true { connections[port] = nil }
            closed.noteClosed()
        }

        /// A connection is established for a request to the origin of a queue.
        ///
        /// - Parameters:
        ///   - made: The sockets that were made for it. All but one were given up for another address.
        ///   - localPort: Its local port.
        func register(_ made: [Int32], localPort: Int32, for queue: OriginQueue) -> EstablishedConnection? {
            guard let socket = made.last(where: { rocurl_local_port($0) == localPort }) else { return nil }
            forgetConnection(socket)
            let connection = EstablishedConnection(socket, for: queue)
            ports[socket] = localPort
            connections[localPort, default: []].append(connection)
            return connection
        }

        /// A request to the origin of a queue is about to be sent over a connection that was not made for it.
        func reuse(localPort: Int32, for queue: OriginQueue, isPlain: Bool) -> Reuse {
            var found = connections[localPort] ?? []
            if found.count > 1 {
                let own = found.filter { $0.origin == queue.origin }
                if !own.isEmpty { found = own }
            }
            if found.contains(where: { $0.hasEnded(isPlain: isPlain) }) { return .ended }
            guard found.count == 1 else { return .usable(nil) }
            found[0].serve(queue)
            return .usable(found[0])
        }

        func removeAll() {
            for socket in sockets { noteClosed(socket) }
        }
    }

    /// A connection over which requests go. Only the thread of its driver touches it.
    final class EstablishedConnection {
        /// Its socket; `nil` once libcurl has closed it.
        private(set) var socket: Int32?
        /// The origin of the request for which it was made.
        let origin: Origin
        /// The queues whose requests went over it. Behind a proxy there may be several.
        private var queues: [OriginQueue] = []
        /// The longest silence that its users accept, in nanoseconds.
        private(set) var longestIdleLimit: Int64 = 0

        init(_ socket: Int32, for queue: OriginQueue) {
            self.socket = socket
            origin = queue.origin
            serve(queue)
        }

        /// Whether the other side has ended it while no request used it.
        ///
        /// - Parameter isPlain: Whether it speaks HTTP/1.1 without TLS. Then unrequested input also ends it: it can
        ///   only be what a server sends before it hangs up. Over TLS and HTTP/2 it may be part of the protocol.
        func hasEnded(isPlain: Bool) -> Bool {
            socket.map { rocurl_has_ended($0, isPlain) } ?? true
        }

        /// Makes the kernel end the connection if the other side acknowledges nothing for the longest idle limit of its
        /// users, in nanoseconds. (RFC 5482; `nil` means no limit of our own.)
        func limitSilence(to idle: Int64?) {
            guard let socket, idle ?? .max > longestIdleLimit else { return }
            longestIdleLimit = idle ?? .max
            var milliseconds = idle.map { UInt32(clamping: max($0 / 1_000_000, 1)) } ?? 0
            // A socket of another kind than TCP refuses this.
            setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
                socklen_t(MemoryLayout.size(ofValue: milliseconds)))
        }

        fileprivate func serve(_ queue: OriginQueue) {
            guard !queues.contains(where: { $0 === queue }) else { return }
            queues.append(queue)
            queue.connections += 1
        }

        /// libcurl is about to close it.
        fileprivate func noteClosed() {
            socket = nil
            for queue in queues { queue.connections -= 1 }
            queues = []
        }
    }
#endif
