#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Transfers that libcurl makes wait for a connection, by origin, in the order in which they came.
    ///
    /// libcurl keeps them all in one line. When a connection ends or has room for more, it tries one or two of them.
    /// These need not be the ones that could go (its versions 8.14 and 8.15 try all). So transfers to a host that does
    /// not answer would hold up those to any other host. To prevent that, we also try the first transfer to the origin
    /// of that connection, and now and then the first of every origin.
    ///
    /// Some versions also let transfers wait for a response that may never come
    /// (``CurlLibrary/waitsForFirstResponse``), or for one over HTTP/1.1 (``CurlLibrary/leavesWaiting``). (Transfers
    /// that libcurl sends once more over another connection are not in this line. We do not learn of their wait.)
    struct ConnectionLine {
        private var lines: [Origin: Line<CurlTransfer>] = [:]
        /// How many origins come before those whose turn is next.
        private var rotationStart = 0
        /// Origins whose first transfer is to be tried.
        private var candidates: Set<Origin> = []
        /// Origins that have a new connection in this turn, and whether all their transfers are to be tried then.
        private var connected: [Origin: Bool] = [:]
        private var count = 0
        /// How many transfers in the lines have ended.
        private var endedCount = 0

        /// How many origins are tried at a time only because time has passed.
        private static let rotationWidth = 8
        /// How many ended transfers may stay before they are removed.
        private static let keptEnded = 64

        /// Whether requests to a single origin may also wait although they could go. They may wait for an answer, if
        /// their version of libcurl waits for that. Or they may wait for descriptors that others have closed.
        var triesSingleLine: Bool

        /// - Parameter triesSingleLine: Whether requests to a single origin may also wait although they could go.
        init(triesSingleLine: Bool = CurlLibrary.waitsForFirstResponse) {
            self.triesSingleLine = triesSingleLine
        }

        /// Whether libcurl may try the wrong transfer.
        var hasSeveralOrigins: Bool { lines.count > 1 }

        /// Whether libcurl may try the wrong transfer, or none.
        var isTried: Bool { hasSeveralOrigins || triesSingleLine && !lines.isEmpty }

        mutating func append(_ transfer: CurlTransfer) {
            guard !transfer.isInLine else { return }
            transfer.isInLine = true
            lines[transfer.origin, default: Line()].append(transfer)
            count += 1
        }

        /// A connection to the origin of a transfer has ended, or may have room for more.
        mutating func noteRoom(at transfer: CurlTransfer) {
            if !lines.isEmpty { candidates.insert(transfer.origin) }
        }

        /// A connection that was made for a transfer is ready, or has been answered. (Transfers that wait for it may
        /// come into the line later in the turn.)
        ///
        /// - Parameter all: Whether all waiting transfers are to be tried, not only the first.
        mutating func noteConnection(for transfer: CurlTransfer, all: Bool) {
            connected[transfer.origin] = all || connected[transfer.origin] == true
        }

        /// The transfers to be tried because their origin has a new connection. They stay in the line.
        mutating func takeConnected() -> [CurlTransfer] {
            guard !connected.isEmpty else { return [] }
            defer { connected.removeAll() }
            return connected.flatMap { origin, all -> [CurlTransfer] in
                guard all else { return first(to: origin).map { [$0] } ?? [] }
                return lines[origin]?.elements.filter(\.waitsForConnection) ?? []
            }
        }

        /// There may be room that nobody reported. Adds the next few origins to those that are tried. (The order of the
        /// origins is that of the dictionary, which changes with them. Over time, each has its turn.)
        mutating func rotate() {
            candidates.formUnion(lines.keys.dropFirst(rotationStart).prefix(Self.rotationWidth))
            rotationStart += Self.rotationWidth
            if rotationStart >= lines.count { rotationStart = 0 }
        }

        /// The transfers that wait for an origin. They stay in the line.
        func waiting(for origin: Origin) -> [CurlTransfer] {
            lines[origin]?.elements.filter(\.waitsForConnection) ?? []
        }

        /// Takes all transfers that wait for an origin out of the line.
        mutating func takeAll(to origin: Origin) -> [CurlTransfer] {
            guard let line = lines.removeValue(forKey: origin)?.elements else { return [] }
            for transfer in line { remove(transfer) }
            return line.filter(\.waitsForConnection)
        }

        /// A transfer has ended.
        mutating func ends(_ transfer: CurlTransfer) {
            guard transfer.isInLine else { return }
            endedCount += 1
            if endedCount > max(Self.keptEnded, count / 2) { removeEnded() }
        }

        /// The first waiting transfer of each origin that may have room. They stay in the line.
        mutating func takeCandidates() -> [CurlTransfer] {
            guard !candidates.isEmpty else { return [] }
            defer { candidates.removeAll() }
            let transfers = candidates.compactMap { first(to: $0) }
            return isTried ? transfers : []
        }

        private mutating func first(to origin: Origin) -> CurlTransfer? {
            while let first = lines[origin]?.first {
                if first.waitsForConnection { return first }
                // libcurl has tried it by itself, or it has ended.
                lines[origin]?.popFirst()
                remove(first)
            }
            lines[origin] = nil
            return nil
        }

        private mutating func remove(_ transfer: CurlTransfer) {
            transfer.isInLine = false
            count -= 1
            if case .nowhere = transfer.place { endedCount -= 1 }
        }

        private mutating func removeEnded() {
            for (origin, line) in lines {
                var rest = Line<CurlTransfer>()
                for transfer in line.elements {
                    if transfer.waitsForConnection { rest.append(transfer) } else { remove(transfer) }
                }
                lines[origin] = rest.isEmpty ? nil : rest
            }
        }
    }
#endif
