#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Transfers that libcurl makes wait for a connection, by origin, in the order in which they came.
    ///
    /// libcurl keeps them all in one line. When a connection ends or has room for more, it tries a single one of them, which
    /// need not be one for that connection (its versions 8.14 and 8.15 try all). Those to a host that does not answer would
    /// hold up those to any other; so the first to the origin of that connection is tried as well.
    struct ConnectionLine {
        private var lines: [Origin: Line<CurlTransfer>] = [:]
        /// Where one may go now.
        private var origins: Set<Origin> = []

        mutating func append(_ transfer: CurlTransfer) {
            lines[transfer.origin, default: Line()].append(transfer)
        }

        /// A connection to the origin of a transfer has ended, or may have room for more.
        mutating func hasRoom(besides transfer: CurlTransfer) {
            if !lines.isEmpty { origins.insert(transfer.origin) }
        }

        /// Those that are to be tried now: the first of each origin that may have room, which stays in the line.
        mutating func takeFirst() -> [CurlTransfer] {
            guard !origins.isEmpty else { return [] }
            defer { origins.removeAll() }
            let transfers = origins.compactMap { first(to: $0) }
            // Of a single origin libcurl can try no wrong one.
            return lines.count > 1 ? transfers : []
        }

        private mutating func first(to origin: Origin) -> CurlTransfer? {
            while let first = lines[origin]?.first {
                if first.waitsForConnection { return first }
                // libcurl has tried it by itself, or it has ended.
                lines[origin]?.popFirst()
            }
            lines[origin] = nil
            return nil
        }
    }
#endif
