#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Origins that could speak HTTP/2, but whose last answered new connection speaks HTTP/1.1.
    ///
    /// If an origin speaks both, the last connection decides for all. If an origin has learnt HTTP/2 meanwhile, we find
    /// out with its next connection. Until that is answered, each request makes its own connection.
    struct HTTP1Origins {
        private var origins: Set<Origin> = []
        /// When the origins were last forgotten.
        private var lastSweep = Int64.min

        /// How many origins are kept. At this number, all are forgotten. Requests to them then count as possibly HTTP/2
        /// until they are answered again. The same happens after ``HostMemory/longestRest``.
        static let limit = 1000

        func contains(originOf transfer: CurlTransfer) -> Bool {
            !origins.isEmpty && origins.contains(transfer.origin)
        }

        /// A response has come over a connection that was made for its transfer. Returns whether its origin joins the
        /// list because of that.
        mutating func learn(from transfer: CurlTransfer, at now: Int64) -> Bool {
            if now - HostMemory.longestRest >= lastSweep {
                origins.removeAll()
                lastSweep = now
            }
            guard !transfer.head.takesSeveral else {
                if !origins.isEmpty { origins.remove(transfer.origin) }
                return false
            }
            guard !origins.contains(transfer.origin) else { return false }
            if origins.count >= Self.limit { origins.removeAll() }
            origins.insert(transfer.origin)
            return true
        }
    }
#endif
