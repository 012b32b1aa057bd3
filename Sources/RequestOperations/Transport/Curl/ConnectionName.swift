#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// What tells a connection from the others that a driver has at the same time.
    struct ConnectionName: Hashable {
        let address: String
        let port: Int32
        let localPort: Int32
    }

    /// The connections that are known to speak HTTP/2, since a response has come over them.
    struct MultiplexedConnections {
        private var names: Set<ConnectionName> = []

        /// Of connections that have ended nobody tells: when there are so many, all are forgotten.
        private static let limit = 4096

        func contains(_ name: ConnectionName) -> Bool { names.contains(name) }

        mutating func insert(_ name: ConnectionName) {
            if names.count >= Self.limit { names.removeAll() }
            names.insert(name)
        }

        /// A new connection has the name.
        mutating func remove(_ name: ConnectionName) {
            names.remove(name)
        }
    }
#endif
