#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Connections that have not delivered an answer yet, by origin. Some are being made, and the first request of
    /// others is on its way.
    ///
    /// libcurl may make all other requests to an origin wait for that answer (``CurlLibrary/waitsForFirstResponse``),
    /// even where another connection would take them. So we let one transfer after the other go past the wait. It uses
    /// a connection that was answered, or else makes one. If there seems to be an answered connection, the next
    /// transfer goes as soon as the last one was sent. Otherwise one goes now and then.
    struct UnansweredConnections {
        private struct Place {
            var count = 0
            /// When the last of these connections was begun, or its request was sent.
            var latest: Int64 = 0
            /// Whether there seems to be another connection that was answered and takes more requests.
            var hasAnswered = false
            /// Whether a transfer is finding that out now.
            var isTried = false

            var patience: Int64 { UnansweredConnections.patience << min(count - 1, 4) }
        }

        private var places: [Origin: Place] = [:]

        /// How long others wait for a single such connection. The time doubles with each further one.
        private static let patience: Int64 = 200_000_000

        var isEmpty: Bool { places.isEmpty }

        /// A connection is begun for a transfer, or its request is sent over that connection.
        mutating func goesOn(_ transfer: CurlTransfer, at now: Int64) {
            var place = places[transfer.origin] ?? Place()
            if !transfer.awaitsFirstResponse {
                transfer.awaitsFirstResponse = true
                place.count += 1
                // No answered connection took the transfer.
                place.hasAnswered = false
            }
            place.latest = now
            places[transfer.origin] = place
            endsTry(transfer)
        }

        /// A transfer has a response over its connection, or has no connection any more.
        mutating func ends(_ transfer: CurlTransfer) {
            endsTry(transfer)
            guard transfer.awaitsFirstResponse, var place = places[transfer.origin] else { return }
            transfer.awaitsFirstResponse = false
            place.count -= 1
            places[transfer.origin] = place.count == 0 ? nil : place
        }

        /// A connection to a transfer's origin was answered for the first time, or has room because a transfer has
        /// ended.
        mutating func takesMore(at transfer: CurlTransfer) {
            places[transfer.origin]?.hasAnswered = true
        }

        /// Whether a transfer has to look for an answered connection. No other one looks until this one knows the
        /// result.
        mutating func tries(_ transfer: CurlTransfer) -> Bool {
            guard !places.isEmpty, let place = places[transfer.origin], place.hasAnswered, !place.isTried else {
                return false
            }
            places[transfer.origin]?.isTried = true
            transfer.triesAnswered = true
            return true
        }

        /// A transfer has found a connection, or has found none.
        mutating func endsTry(_ transfer: CurlTransfer) {
            guard transfer.triesAnswered else { return }
            transfer.triesAnswered = false
            places[transfer.origin]?.isTried = false
        }

        /// Whether a waiting transfer has waited long enough.
        func areOverdue(for transfer: CurlTransfer, at now: Int64) -> Bool {
            guard let place = places[transfer.origin] else { return false }
            return place.latest.adding(place.patience) <= now
        }
    }
#endif
