#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The established connections of a driver. libcurl names a connection by its local port, so they are found by that.
    ///
    /// Connections to different servers may share a local port, and Unix sockets have none. Then those count that were
    /// made for the origin of the request. If none was, as behind a proxy, all of them count. If any of these has ended,
    /// the request goes over a new connection.
    // Unchecked: only the thread of its driver touches it.
    final class ConnectionTable: @unchecked Sendable {
        /// What is known of an origin to which there are connections that may take several requests at a time.
        struct OriginState {
            var connections = 0
            /// Whether the last answer came over HTTP/2; `nil` before the first one.
            var speaksHTTP2: Bool?
        }

        /// What a request finds that libcurl is about to send over an old connection.
        enum Reuse {
            /// That connection has ended.
            case ended
            /// The connection; `nil` if it is not told from others.
            case usable(EstablishedConnection?)
        }

        private var origins: [Origin: OriginState] = [:]
        private var ports: [Int32: Int32] = [:]
        private var connections: [Int32: [EstablishedConnection]] = [:]

        /// How many connections are established.
        var count: Int { ports.count }

        /// A connection is established.
        ///
        /// - Parameters:
        ///   - made: The sockets that were made for it. All but one were given up for another address.
        ///   - localPort: Its local port.
        ///   - origin: The origin of the request for which it was made.
        ///   - mayShare: Whether it may take several requests at a time.
        func register(
            _ made: [Int32], localPort: Int32, origin: Origin, mayShare: Bool = false
        ) -> EstablishedConnection? {
            guard let socket = made.last(where: { rocurl_local_port($0) == localPort }) else { return nil }
            // libcurl may have closed an earlier one of that number without telling.
            noteClosed(socket)
            let connection = EstablishedConnection(socket, for: origin)
            ports[socket] = localPort
            connections[localPort, default: []].append(connection)
            if mayShare { share(connection, with: origin) }
            return connection
        }

        /// A request is about to be sent over a connection that was not made for it.
        func reuse(localPort: Int32, origin: Origin, isPlain: Bool, mayShare: Bool = false) -> Reuse {
            let found = find(localPort, origin)
            if found.contains(where: { $0.hasEnded(isPlain: isPlain) }) { return .ended }
            guard found.count == 1 else { return .usable(nil) }
            if mayShare { share(found[0], with: origin) }
            return .usable(found[0])
        }

        /// Requests to an origin may share a connection. It may have been made for another origin, behind a proxy, or for a
        /// request that must be alone.
        private func share(_ connection: EstablishedConnection, with origin: Origin) {
            if connection.share(with: origin) { origins[origin, default: OriginState()].connections += 1 }
        }

        /// What is known of an origin; `nil` if no such connection to it is established.
        func reached(_ origin: Origin) -> OriginState? { origins[origin] }

        /// A request to an origin was answered.
        func noteAnswer(_ origin: Origin, isHTTP2: Bool) {
            if origins[origin]?.speaksHTTP2 != isHTTP2 { origins[origin]?.speaksHTTP2 = isHTTP2 }
        }

        private func find(_ localPort: Int32, _ origin: Origin) -> [EstablishedConnection] {
            guard let found = connections[localPort] else { return [] }
            if found.count == 1 { return found }
            let own = found.filter { $0.origin == origin }
            return own.isEmpty ? found : own
        }

        /// A socket is about to be closed.
        func noteClosed(_ socket: Int32) {
            guard let port = ports.removeValue(forKey: socket),
                let index = connections[port]?.firstIndex(where: { $0.socket == socket }),
                let closed = connections[port]?.remove(at: index)
            else { return }
            if connections[port]?.isEmpty == true { connections[port] = nil }
            closed.noteClosed()
            for origin in closed.sharers {
                origins[origin]?.connections -= 1
                if origins[origin]?.connections == 0 { origins[origin] = nil }
            }
        }

        /// All connections were closed.
        func removeAll() {
            for socket in ports.keys { noteClosed(socket) }
        }
    }
#endif
