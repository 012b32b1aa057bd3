#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Transfers that libcurl makes wait for a connection, by origin, in the order in which they came.
    ///
    /// libcurl keeps them all in one line. When a connection ends or has room for more, it tries one or two of them, which
    /// need not be those that could go (its versions 8.14 and 8.15 try all). Those to a host that does not answer would hold up
    /// those to any other; so the first to the origin of that connection is tried as well, and of every origin now and then.
    /// And there are versions that let them wait for a response that may never come
    /// (``CurlLibrary/waitsForFirstResponse``), or for one over HTTP/1.1 (``CurlLibrary/leavesWaiting``).
    /// (Those that libcurl sends once more over another connection are not in here: nobody hears of their wait.)
    struct ConnectionLine {
        private var lines: [Origin: Line<CurlTransfer>] = [:]
        /// How many origins come before those whose turn is next.
        private var rotationStart = 0
        /// Where the first is to be tried.
        private var candidates: Set<Origin> = []
        /// Where a new connection has come to stand in this turn, and whether all are to be tried then.
        private var connected: [Origin: Bool] = [:]
        private var count = 0
        /// How many in the lines have ended.
        private var endedCount = 0

        /// How many origins are tried at a time because of nothing but time.
        private static let rotationWidth = 8
        /// So many that have ended are kept before they are looked for.
        private static let keptEnded = 64

        /// Whether requests to a single origin may wait as well where they could go. They wait for an answer that their
        /// version of libcurl waits for, or for descriptors that others have closed.
        var triesSingleLine: Bool

        /// - Parameter triesSingleLine: Whether also those to a single origin may wait where they could go.
        init(triesSingleLine: Bool = CurlLibrary.waitsForFirstResponse) {
            self.triesSingleLine = triesSingleLine
        }

        /// Whether libcurl may try a wrong one.
        var hasSeveralOrigins: Bool { lines.count > 1 }

        /// Whether libcurl may try a wrong one, or none.
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

        /// A connection that was made for a transfer stands, or has been answered. (Those that wait for it may come into the line
        /// later in the turn.)
        ///
        /// - Parameter all: Whether all that wait are to be tried, not the first alone.
        mutating func noteConnection(for transfer: CurlTransfer, all: Bool) {
            connected[transfer.origin] = all || connected[transfer.origin] == true
        }

        /// Those that are to be tried since there is a new connection to their origin; they stay in the line.
        mutating func takeConnected() -> [CurlTransfer] {
            guard !connected.isEmpty else { return [] }
            defer { connected.removeAll() }
            return connected.flatMap { origin, all -> [CurlTransfer] in
                guard all else { return first(to: origin).map { [$0] } ?? [] }
                return lines[origin]?.elements.filter(\.waitsForConnection) ?? []
            }
        }

        /// Room may have come about of which nobody was told. (The order of the origins is that of the dictionary, which
        /// changes with them; over time each has its turn.)
        mutating func rotate() {
            candidates.formUnion(lines.keys.dropFirst(rotationStart).prefix(Self.rotationWidth))
            rotationStart += Self.rotationWidth
            if rotationStart >= lines.count { rotationStart = 0 }
        }

        /// Those that wait for an origin; they stay in the line.
        func waiting(for origin: Origin) -> [CurlTransfer] {
            lines[origin]?.elements.filter(\.waitsForConnection) ?? []
        }

        /// All that wait for an origin, of which none is in the line any more.
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

        /// The first that wait for each origin that may have room; they stay in the line.
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
