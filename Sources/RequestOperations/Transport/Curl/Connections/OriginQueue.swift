#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The requests to one origin: how many libcurl has at a time, and which wait.
    ///
    /// A connection shows whether it takes several requests only when it is ready. So the first request to an origin that
    /// may speak HTTP/2 goes alone. Then the others follow: over HTTP/1.1 one per connection, over HTTP/2 up to 100 per
    /// connection, and one more that makes the next connection.
    ///
    /// libcurl has one line for all requests that wait for a connection, whatever their host. One that has to wait there may
    /// hold up others for which a connection is free. So requests wait here.
    final class OriginQueue {
        /// How a request goes.
        enum Route {
            /// Over any connection.
            case shared
            /// Others wait until it has a connection.
            case first
            /// Over a new connection, for which others wait.
            case new
        }

        /// How many requests a connection of HTTP/2 takes before the server has said so (RFC 9113, section 6.5.2).
        static let streams = 100

        private struct Waiter {
            let transfer: CurlTransfer
            /// How many connections had been made before.
            let madeCount: Int
        }

        /// What a queue is for.
        struct Key: Hashable {
            let origin: Origin
            /// Whether a connection may take several requests at a time.
            let mayShare: Bool
        }

        let key: Key
        /// Whether a transfer may make a connection only if it is asked to; see
        /// ``HandleSettings/makesConnectionsApart(isSecure:)``.
        let makesApart: Bool
        private let mostConnections: Int
        /// Whether a connection always takes several requests at a time, if it may.
        private let alwaysShares: Bool
        /// Whether a request was sent.
        private var hasSent = false
        /// Whether the last answer came over HTTP/2; `nil` before the first one.
        private var speaksHTTP2: Bool?
        private var running = 0
        /// Whose connection others wait for.
        private var maker: CurlTransfer?
        /// Whether a request found that no connection takes it. Then all wait for the next connection. If its maker waits for
        /// something else, they try one after the other whether a connection takes a request again.
        private(set) var isFull = false
        private var line = Line<Waiter>()
        /// How many connections were made for which others waited.
        private var madeCount = 0
        /// Whether the time of those in line counts as time to connect.
        var waitsToConnect = false
        /// How many transfers in the line have ended.
        private var endedCount = 0
        /// Whether it is in the driver's list of those that may have room.
        var isListed = false

        init(of transfer: CurlTransfer) {
            key = transfer.queueKey
            let (settings, configuration) = (transfer.driver.settings, transfer.driver.configuration)
            makesApart = settings.makesConnectionsApart(isSecure: transfer.isSecure)
            mostConnections = configuration.maximumConnectionsPerHost ?? .max
            alwaysShares = configuration.httpVersions == .http2PriorKnowledge
        }

        private var mayShare: Bool { key.mayShare }

        /// Whether nobody runs or waits.
        var isIdle: Bool { running == 0 && line.isEmpty }

        /// The transfers that wait.
        var waiting: [CurlTransfer] { line.elements.map(\.transfer).filter { $0.place == .inLine } }

        /// Whether the transfer whose connection others wait for itself waits.
        var makerWaits: Bool { maker?.place.waits ?? false }

        /// Whether others wait for the connection of a transfer.
        func waits(for transfer: CurlTransfer) -> Bool { maker === transfer }

        private func limit(_ known: ConnectionTable.OriginState?) -> Int {
            guard mayShare else { return mostConnections }
            guard let known else { return 1 }
            guard speaksHTTP2(known) else { return mostConnections }
            let count = min(known.connections, mostConnections)
            return count * Self.streams + (count < mostConnections ? 1 : 0)
        }

        /// A transfer begins. Returns `nil` if it waits.
        func begin(_ transfer: CurlTransfer, _ known: ConnectionTable.OriginState?) -> Route? {
            let isNew = transfer.wantsNewConnection
            guard line.isEmpty, !(isNew && isMade(known)), hasRoom(known) else {
                wait(transfer)
                return nil
            }
            return go(transfer, known, isNew: isNew)
        }

        /// A transfer that was not sent needs a new connection. Returns `nil` if it waits for that of another.
        func beginAnew(_ transfer: CurlTransfer, _ known: ConnectionTable.OriginState?) -> Route? {
            guard maker === transfer || !isMade(known) else {
                running -= 1
                wait(transfer)
                return nil
            }
            noteMaker(transfer)
            return .new
        }

        /// Takes the next transfer out of the line, if there is room.
        func takeNext(_ known: ConnectionTable.OriginState?) -> (CurlTransfer, Route)? {
            while let first = line.first {
                guard first.transfer.place == .inLine else {
                    line.popFirst()
                    endedCount -= 1
                    continue
                }
                guard hasRoom(known) else { return nil }
                // A connection that was made meanwhile is new enough, if it takes this request as well.
                let isServed = nextMayShare(known) && first.madeCount != madeCount
                let isNew = first.transfer.wantsNewConnection && !isServed
                if isNew, isMade(known) { return nil }
                line.popFirst()
                first.transfer.place = .new
                return (first.transfer, go(first.transfer, known, isNew: isNew))
            }
            return nil
        }

        /// Whether libcurl must make no connection for a request that goes over any.
        func mustShare(_ known: ConnectionTable.OriginState?) -> Bool {
            mayShare && speaksHTTP2(known)
        }

        /// Whether a connection is being made that others can wait for.
        private func isMade(_ known: ConnectionTable.OriginState?) -> Bool { maker != nil && nextMayShare(known) }

        /// Whether the next connection may take several requests: over HTTP/2 it does, and before an answer we do not know.
        private func nextMayShare(_ known: ConnectionTable.OriginState?) -> Bool {
            mayShare && lastAnswer(known) != false
        }

        private func speaksHTTP2(_ known: ConnectionTable.OriginState?) -> Bool { lastAnswer(known) ?? alwaysShares }

        /// Whether the last answer came over HTTP/2; `nil` before the first one.
        private func lastAnswer(_ known: ConnectionTable.OriginState?) -> Bool? { known?.speaksHTTP2 ?? speaksHTTP2 }

        /// A request was answered.
        func noteAnswer(isHTTP2: Bool) {
            speaksHTTP2 = isHTTP2
        }

        /// No connection took a request that must make none. The server may take fewer requests at a time, or may have ended
        /// the connection for new ones (GOAWAY: RFC 9113, section 6.8).
        func noteTurnedBack() {
            isFull = true
        }

        /// A transfer was sent. Others may use its connection.
        func noteSent(_ transfer: CurlTransfer) {
            hasSent = true
            guard maker === transfer else { return }
            madeCount += 1
            maker = nil
            isFull = false
        }

        /// Whether there is a connection for which others can wait.
        func isReached(_ known: ConnectionTable.OriginState?) -> Bool { mayShare ? known != nil : hasSent }

        /// A transfer has ended.
        func noteEnd(_ transfer: CurlTransfer) {
            if transfer.place == .inLine {
                transfer.place = .ended
                endedCount += 1
                if endedCount > max(64, line.count / 2) { removeEnded() }
            } else {
                running -= 1
                if maker === transfer { maker = nil }
            }
        }

        private func hasRoom(_ known: ConnectionTable.OriginState?) -> Bool {
            // While the next connection is made, nobody else tries, unless its maker waits for something else.
            if let maker, makesApart || isFull && !maker.place.waits { return false }
            return running < limit(known)
        }

        private func go(_ transfer: CurlTransfer, _ known: ConnectionTable.OriginState?, isNew: Bool) -> Route {
            running += 1
            let connections = known?.connections ?? 0
            let isFirst =
                mayShare && maker == nil && (connections == 0 || isFull || running > connections * Self.streams)
            guard isNew || isFirst else { return .shared }
            noteMaker(transfer)
            return isNew ? .new : .first
        }

        /// A transfer makes a connection. Others wait for it, unless they wait for another transfer's.
        private func noteMaker(_ transfer: CurlTransfer) {
            if mayShare, maker == nil { maker = transfer }
        }

        private func wait(_ transfer: CurlTransfer) {
            transfer.place = .inLine
            line.append(Waiter(transfer: transfer, madeCount: madeCount))
        }

        private func removeEnded() {
            line.removeAll { $0.transfer.place != .inLine }
            endedCount = 0
        }
    }
#endif
