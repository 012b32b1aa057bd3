#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Origins of which a connection might have spoken HTTP/2, and the last that was made speaks HTTP/1.1. (Where an origin has
    /// both, that decides for all.)
    struct HTTP1Origins {
        private var origins: Set<Origin> = []

        /// With so many they are forgotten, and requests to them are sent again as over HTTP/2, until they have answered anew.
        static let limit = 1000

        func contains(_ transfer: CurlTransfer) -> Bool {
            !origins.isEmpty && origins.contains(transfer.origin)
        }

        /// A response has come over a connection that was made for it; whether its origin is one of these since then.
        mutating func note(_ transfer: CurlTransfer) -> Bool {
            guard !transfer.head.takesSeveral else {
                if !origins.isEmpty { origins.remove(transfer.origin) }
                return false
            }
            if origins.count >= Self.limit { origins.removeAll() }
            return origins.insert(transfer.origin).inserted
        }
    }
#endif
