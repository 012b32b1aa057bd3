#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Who makes connections that others are to use, one at a time to each origin, and who waits for those.
    ///
    /// That is so with HTTP/2 without TLS where libcurl is told one thing to make a connection and another to use one. A transfer
    /// that it finds no connection for is turned back, and then makes one; as long as one is being made, others to its origin
    /// are held back, since libcurl would let them speak HTTP/1.1 on it. And it is so where a connection was lost that served
    /// many. They go in portions, more with each that gets on, since those for which there is no room are turned back again.
    struct NewConnections {
        private struct Place {
            var makerCount = 0
            /// Some of them may have ended.
            var heldBack = Line<CurlTransfer>()
        }

        private var places: [Origin: Place] = [:]
        private var released: [CurlTransfer] = []

        private static let portion = 2

        /// Whether a transfer makes none, and one is being made or others were before it.
        func mustWait(_ transfer: CurlTransfer) -> Bool {
            !places.isEmpty && !transfer.mayConnect && places[transfer.origin] != nil
        }

        /// Whether a connection to the origin of a transfer is being made.
        func isMaking(to transfer: CurlTransfer) -> Bool {
            places[transfer.origin].map { $0.makerCount > 0 } ?? false
        }

        /// Those that wait for a connection to an origin to be made.
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

        /// A transfer has its connection, or has ended, or waits for one of a bounded number.
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

        /// Those that can be given to libcurl now. (Where one has ended meanwhile, others were released for it.)
        mutating func takeReleased() -> [CurlTransfer] {
            guard !released.isEmpty else { return [] }
            defer { released = [] }
            return released.filter(\.isActive)
        }
    }
#endif
