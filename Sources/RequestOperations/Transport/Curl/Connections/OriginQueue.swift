#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The requests to one origin, first come first served: how many libcurl has at a time, and which wait.
    ///
    /// Over HTTP/1.1 there are as many as connections may be, over HTTP/2 up to 100 for each connection. While the version is
    /// unknown, one request makes the connection, and the others wait for it.
    ///
    /// libcurl has one queue for all requests that wait for a connection, whatever their host. A request that has to wait
    /// there may hold up others for which a connection is free. So requests wait here.
    final class OriginQueue {
        /// How many requests a connection of HTTP/2 takes before the server has said so (RFC 9113, section 6.5.2).
        static let streams = 100

        let origin: Origin
        /// Whether a connection may take several requests at a time.
        private let mayShare: Bool
        private let mostConnections: Int
        private var waiting = Queue<CurlTransfer>()
        /// How many transfers in the queue have ended.
        private var endedCount = 0
        /// How many requests libcurl has.
        private var running = 0
        /// How many connections are established over which a request to the origin went.
        var connections = 0
        /// Whether the last answer came over HTTP/2; `nil` before the first one.
        var speaksHTTP2: Bool?
        /// The transfer for whose connection the others wait.
        private var maker: CurlTransfer?
        /// Whether the last transfer that made a connection for the others failed. They no longer wait for one another
        /// then.
        private var hasFailed = false
        /// When the last connection was made.
        private var lastMade = Int64.min
        /// Whether it is in the driver's list of queues that may have room.
        var isListed = false
        var awaitsLookup = false

        init(of transfer: CurlTransfer, mayShare: Bool) {
            let configuration = transfer.driver.configuration
            origin = transfer.origin
            self.mayShare = mayShare
            mostConnections = configuration.maximumConnectionsPerHost ?? .max
            if mayShare, configuration.httpVersions == .http2PriorKnowledge { speaksHTTP2 = true }
        }

        /// Whether nothing about it has to be remembered.
        var isIdle: Bool { running == 0 && connections == 0 && waitingCount == 0 }

        var waitingCount: Int { waiting.count - endedCount }

        // MARK: Requests

        func enter(_ transfer: CurlTransfer) {
            transfer.place = .inQueue
            waiting.append(transfer)
        }

        /// The transfer whose turn it is, if there is room for it.
        func next() -> CurlTransfer? {
            while let first = waiting.first {
                if first.place == .inQueue {
                    return running < limit && !(wantsNew(first) && isMade) ? first : nil
                }
                waiting.popFirst()
                endedCount -= 1
            }
            return nil
        }

        /// Takes the transfer whose turn it is out of the queue. Returns whether it makes a new connection.
        func takeNext() -> Bool {
            guard let next = waiting.popFirst() else { return false }
            running += 1
            let isNew = wantsNew(next)
            if mayShare, maker == nil, isNew || connections == 0 { maker = next }
            return isNew
        }

        /// Whether the next transfer makes a connection. (libcurl may know better.)
        var nextConnects: Bool {
            connections == 0 || !(mayShare && speaksHTTP2 == true) && running >= connections
        }

        private var limit: Int {
            guard mayShare, speaksHTTP2 != false else { return mostConnections }
            if connections == 0 { return hasFailed ? mostConnections : 1 }
            guard speaksHTTP2 == true else { return mostConnections }
            let count = min(connections, mostConnections)
            return count * Self.streams + (count < mostConnections ? 1 : 0)
        }

        /// A connection that was made after the transfer came is new enough, if it takes several requests.
        private func wantsNew(_ transfer: CurlTransfer) -> Bool {
            transfer.wantsNewConnection && !(mayShare && speaksHTTP2 != false && lastMade >= transfer.submitted)
        }

        /// Whether a connection is being made that others can wait for.
        private var isMade: Bool { maker != nil && speaksHTTP2 != false }

        func noteSent(_ transfer: CurlTransfer, at now: Int64) {
            hasFailed = false
            if !transfer.connection.isReused { lastMade = now }
            if maker === transfer { maker = nil }
        }

        /// A transfer goes back to the queue, since the connection that it was to use has ended.
        func takeBack(_ transfer: CurlTransfer) {
            noteEnd(transfer)
            hasFailed = false
            enter(transfer)
        }

        func noteEnd(_ transfer: CurlTransfer) {
            if transfer.place == .inQueue {
                endedCount += 1
                transfer.place = .ended
                if waitingCount == 0 || endedCount > max(64, waiting.count / 2) {
                    waiting.removeAll { $0.place != .inQueue }
                    endedCount = 0
                }
            } else {
                running -= 1
                // A cancel says nothing about the host. The next transfer makes the connection then.
                if maker === transfer { (maker, hasFailed) = (nil, !transfer.wasAborted) }
            }
            if running == 0, waitingCount == 0 { hasFailed = false }
        }
    }
#endif
