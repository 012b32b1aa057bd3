#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Connections over which nothing was answered yet, by origin: those that are being made, and those whose first request is
    /// on its way.
    ///
    /// libcurl may have all others to an origin wait for that answer (``CurlLibrary/waitsForFirstResponse``), even where another
    /// connection would take them. So one after the other is let pass by: it uses a connection that was answered, or else makes
    /// one. As soon as one of these is answered, all may.
    struct UnansweredConnections {
        private struct Place {
            var count = 0
            /// When the last of them was begun, or its request was sent.
            var latest: Int64 = 0
            /// Whether there is one beside them that was answered.
            var hasAnswered = false

            var patience: Int64 { UnansweredConnections.patience << min(count - 1, 4) }
        }

        private var places: [Origin: Place] = [:]

        /// So long one is waited for alone, and twice as long for each that has come in addition.
        private static let patience: Int64 = 200_000_000

        var isEmpty: Bool { places.isEmpty }

        /// A connection is begun for a transfer, or its request is sent.
        mutating func goesOn(_ transfer: CurlTransfer, at now: Int64) {
            var place = places[transfer.origin] ?? Place()
            if !transfer.awaitsFirstResponse {
                transfer.awaitsFirstResponse = true
                place.count += 1
                // Nothing that was answered took it.
                place.hasAnswered = false
            }
            place.latest = now
            places[transfer.origin] = place
        }

        /// A transfer has a response over its connection, or none any more.
        mutating func ends(_ transfer: CurlTransfer) {
            guard transfer.awaitsFirstResponse, var place = places[transfer.origin] else { return }
            transfer.awaitsFirstResponse = false
            place.count -= 1
            places[transfer.origin] = place.count == 0 ? nil : place
        }

        /// A response has come over a connection that takes several requests; whether that lets others pass by that waited.
        mutating func hasAnswered(_ transfer: CurlTransfer) -> Bool {
            guard let place = places[transfer.origin], !place.hasAnswered else { return false }
            places[transfer.origin]?.hasAnswered = true
            return true
        }

        /// Whether there is a connection to the origin of a transfer that was answered, beside some that were not.
        func haveAnsweredBeside(_ transfer: CurlTransfer) -> Bool {
            places[transfer.origin]?.hasAnswered ?? false
        }

        /// Whether a transfer that waits need not wait for them any longer.
        func letPassBy(_ transfer: CurlTransfer, at now: Int64) -> Bool {
            guard let place = places[transfer.origin] else { return false }
            return place.hasAnswered || place.latest.adding(place.patience) <= now
        }
    }
#endif
