#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// The transfers that make connections for others to use, one at a time for each origin, and the transfers that
    /// wait for them.
    ///
    /// This is needed for HTTP/2 without TLS, where libcurl needs one setting to make a connection and another to use
    /// one. If libcurl finds no connection for a transfer, the transfer is turned back and then makes one. While one is
    /// being made, others to its origin are held back, since libcurl would let them speak HTTP/1.1 on it.
    ///
    /// It is also needed after a connection was lost that served many requests. The waiting transfers are released in
    /// portions, and each one that gets its connection releases more. Those that find no room are turned back again.
    struct NewConnections {
        private struct Place {
            var makerCount = 0
            /// The transfers that wait. Some of them may have ended.
            var heldBack = Line<CurlTransfer>()
        }

        private var places: [Origin: Place] = [:]
        private var released: [CurlTransfer] = []

        private static let portion = 2

        /// Whether a transfer must wait: it makes no connection, and one is being made or others wait already.
        func mustWait(_ transfer: CurlTransfer) -> Bool {
            !places.isEmpty && !transfer.mayConnect && places[transfer.origin] != nil
        }

        /// Whether a connection to the origin of a transfer is being made.
        func isMaking(to transfer: CurlTransfer) -> Bool {
            places[transfer.origin].map { $0.makerCount > 0 } ?? false
        }

        /// The transfers that wait until a connection to an origin is made.
        func heldBack(from origin: Origin) -> [CurlTransfer] {
            places[origin]?.heldBack.elements ?? []
        }

        mutating func holdBack(_ transfer: CurlTransfer) {
            transfer.isTurnedBack = true
            places[transfer.origin, default: Place()].heldBack.append(transfer)
        }

        /// A transfer makes a connection from now on.
        mutating func begins(_ transfer: CurlTransfer) {
            guard !transfer.makesConnection else { return }
            transfer.makesConnection = true
            places[transfer.origin, default: Place()].makerCount += 1
        }

        /// A transfer has its connection, has ended, or waits for one of a limited number.
        mutating func makesRoom(_ transfer: CurlTransfer) {
            guard !places.isEmpty, var place = places[transfer.origin] else { return }
            if transfer.makesConnection {
                transfer.makesConnection = false
                place.makerCount -= 1
            }
            if place.makerCount == 0 { release(from: &place) }
            places[transfer.origin] = place.makerCount == 0 && place.heldBack.isEmpty ? nil : place
        }

        private mutating func release(from place: inout Place) {
            var count = 0
            while count < Self.portion, let transfer = place.heldBack.popFirst() {
                guard transfer.isActive else { continue }
                released.append(transfer)
                count += 1
            }
        }

        /// The transfers that can be given to libcurl now. (If one has ended meanwhile, others were released in its
        /// place.)
        mutating func takeReleased() -> [CurlTransfer] {
            guard !released.isEmpty else { return [] }
            defer { released = [] }
            return released.filter { $0.isActive && $0.isTurnedBack }
        }
    }
#endif
