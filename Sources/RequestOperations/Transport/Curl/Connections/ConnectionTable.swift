#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// The sockets of a driver's established connections. libcurl names a connection by its local port, so they are
    /// found by that.
    ///
    /// Connections to different servers may have the same local port, and Unix sockets have none. Of those, the ones
    /// that were made for the origin of a request count; behind a proxy, all of them. If several are left, a connection
    /// counts as ended if any of them has ended. That costs a new connection and nothing else.
    // Unchecked: only the thread of its driver touches it.
    final class ConnectionTable: @unchecked Sendable {
        private struct Connection {
            let socket: Int32
            /// The origin of the request for which it was made.
            let origin: Origin
            /// The origins whose requests may share it.
            var sharers: [Origin]
            /// The longest silence that its users endure, in nanoseconds.
            var endurance: Int64 = 0
        }

        /// What is known of an origin to which there are connections that may take several requests at a time.
        struct Reached {
            var connections = 0
            /// Whether the last answer came over HTTP/2; `nil` before the first one.
            var speaksHTTP2: Bool?
        }

        private var origins: [Origin: Reached] = [:]
        private var ports: [Int32: Int32] = [:]
        private var connections: [Int32: [Connection]] = [:]

        /// How many connections are established.
        var count: Int { ports.count }

        /// A connection is established.
        ///
        /// - Parameters:
        ///   - made: The sockets that were made for it. All but one were given up for another address.
        ///   - localPort: Its local port.
        ///   - origin: The origin of the request for which it was made.
        ///   - mayShare: Whether it may take several requests at a time.
        /// - Returns: Its socket.
        func stands(_ made: [Int32], localPort: Int32, origin: Origin, mayShare: Bool = false) -> Int32? {
            guard let socket = made.last(where: { rocurl_local_port($0) == localPort }) else { return nil }
            // libcurl may have closed an earlier one of that number without telling.
            closes(socket)
            ports[socket] = localPort
            connections[localPort, default: []].append(Connection(socket: socket, origin: origin, sharers: []))
            if mayShare { isShared(socket, by: origin) }
            return socket
        }

        /// Requests to an origin may share a connection. It may have been made for another origin, behind a proxy, or for a
        /// request that must be alone.
        func isShared(_ socket: Int32, by origin: Origin) {
            edit(socket) { connection in
                guard !connection.sharers.contains(origin) else { return }
                connection.sharers.append(origin)
                origins[origin, default: Reached()].connections += 1
            }
        }

        /// A request uses a connection and endures a silence. Returns whether it is the longest of all.
        func endures(_ socket: Int32, _ silence: Int64) -> Bool {
            edit(socket) { connection in
                guard silence > connection.endurance else { return false }
                connection.endurance = silence
                return true
            } ?? false
        }

        @discardableResult
        private func edit<Result>(_ socket: Int32, _ body: (inout Connection) -> Result) -> Result? {
            guard let port = ports[socket], let index = connections[port]?.firstIndex(where: { $0.socket == socket })
            else { return nil }
            return body(&connections[port]![index])
        }

        /// What is known of an origin; `nil` if no such connection to it is established.
        func reached(_ origin: Origin) -> Reached? { origins[origin] }

        /// A request to an origin was answered.
        func answers(_ origin: Origin, isHTTP2: Bool) {
            if origins[origin]?.speaksHTTP2 != isHTTP2 { origins[origin]?.speaksHTTP2 = isHTTP2 }
        }

        private func find(_ localPort: Int32, _ origin: Origin) -> [Connection] {
            guard let found = connections[localPort] else { return [] }
            if found.count == 1 { return found }
            let own = found.filter { $0.origin == origin }
            return own.isEmpty ? found : own
        }

        /// The socket of a connection; `nil` if it is not known, or not told from others.
        func socket(localPort: Int32, origin: Origin) -> Int32? {
            let found = find(localPort, origin)
            return found.count == 1 ? found[0].socket : nil
        }

        /// Whether a connection that nobody used until now has ended.
        ///
        /// - Parameter isPlain: Whether it speaks HTTP/1.1 without TLS. Then input that nobody asked for also ends it:
        ///   it can only be what a server sends before it hangs up. Over TLS and HTTP/2 it may be part of the protocol.
        func hasEnded(localPort: Int32, origin: Origin, isPlain: Bool) -> Bool {
            find(localPort, origin).contains { rocurl_has_ended($0.socket, isPlain) }
        }

        /// A socket is about to be closed.
        func closes(_ socket: Int32) {
            guard let port = ports.removeValue(forKey: socket),
                let index = connections[port]?.firstIndex(where: { $0.socket == socket }),
                let closed = connections[port]?.remove(at: index)
            else { return }
            if connections[port]?.isEmpty == true { connections[port] = nil }
            for origin in closed.sharers {
                origins[origin]?.connections -= 1
                if origins[origin]?.connections == 0 { origins[origin] = nil }
            }
        }

        /// All connections were closed.
        func removeAll() {
            origins = [:]
            ports = [:]
            connections = [:]
        }
    }
#endif
