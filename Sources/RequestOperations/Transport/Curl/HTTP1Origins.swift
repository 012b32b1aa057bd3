#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Origins of which a connection might have spoken HTTP/2, and the last that was made and answered over speaks HTTP/1.1.
    /// (Where an origin has both, that decides for all. One that has learnt HTTP/2 meanwhile is found out with the next
    /// connection; until that is answered, each request makes its own.)
    struct HTTP1Origins {
        private var origins: Set<Origin> = []
        /// When they were forgotten last.
        private var lastSweep = Int64.min

        /// With so many they are forgotten, and requests to them are taken for some of HTTP/2, until they have answered anew.
        /// So it is after ``HostMemory/longestRest``.
        static let limit = 1000

        func contains(originOf transfer: CurlTransfer) -> Bool {
            !origins.isEmpty && origins.contains(transfer.origin)
        }

        /// A response has come over a connection that was made for it; whether its origin is one of these since then.
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
