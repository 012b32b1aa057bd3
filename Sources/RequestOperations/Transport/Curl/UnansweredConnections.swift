#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Connections over which nothing was answered yet, by origin: those that are being made, and those whose first request is
    /// on its way.
    ///
    /// libcurl may have all others to an origin wait for that answer (``CurlLibrary/waitsForFirstResponse``), even where another
    /// connection would take them. So one after the other is let pass by: it uses a connection that was answered, or else makes
    /// one. Where there seems to be one that was answered, the next goes as soon as the last has been sent over it; otherwise
    /// one goes now and then.
    struct UnansweredConnections {
        private struct Place {
            var count = 0
            /// When the last of them was begun, or its request was sent.
            var latest: Int64 = 0
            /// Whether there seems to be one beside them that was answered and takes more.
            var hasAnswered = false
            /// Whether a transfer is finding that out now.
            var isTried = false

            var patience: Int64 { UnansweredConnections.patience << min(count - 1, 4) }
        }

        private var places: [Origin: Place] = [:]

        /// So long one is waited for alone, and twice as long for each that has come in addition.
        private static let patience: Int64 = 200_000_000

        var isEmpty: Bool { places.isEmpty }

        /// A connection is begun for a transfer, or its request is sent over that.
        mutating func goesOn(_ transfer: CurlTransfer, at now: Int64) {
            var place = places[transfer.origin] ?? Place()
            if !transfer.awaitsFirstResponse {
                transfer.awaitsFirstResponse = true
                place.count += 1
                // None that was answered took it.
                place.hasAnswered = false
            }
            place.latest = now
            places[transfer.origin] = place
            endsTry(transfer)
        }

        /// A transfer has a response over its connection, or none any more.
        mutating func ends(_ transfer: CurlTransfer) {
            endsTry(transfer)
            guard transfer.awaitsFirstResponse, var place = places[transfer.origin] else { return }
            transfer.awaitsFirstResponse = false
            place.count -= 1
            places[transfer.origin] = place.count == 0 ? nil : place
        }

        /// A connection to the origin of a transfer was answered for the first time, or has room since a transfer has ended.
        mutating func takesMore(at transfer: CurlTransfer) {
            places[transfer.origin]?.hasAnswered = true
        }

        /// Whether a transfer is to look for a connection that was answered; then no other is until this one has found out.
        mutating func tries(_ transfer: CurlTransfer) -> Bool {
            guard !places.isEmpty, let place = places[transfer.origin], place.hasAnswered, !place.isTried else {
                return false
            }
            places[transfer.origin]?.isTried = true
            transfer.triesAnswered = true
            return true
        }

        /// A transfer has found a connection or not.
        mutating func endsTry(_ transfer: CurlTransfer) {
            guard transfer.triesAnswered else { return }
            transfer.triesAnswered = false
            places[transfer.origin]?.isTried = false
        }

        /// Whether a transfer that waits has waited long enough.
        func areOverdue(for transfer: CurlTransfer, at now: Int64) -> Bool {
            guard let place = places[transfer.origin] else { return false }
            return place.latest.adding(place.patience) <= now
        }
    }
#endif
