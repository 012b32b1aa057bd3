#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// Who makes connections of HTTP/2 without TLS, where libcurl is told one thing to make one and another to use one.
    ///
    /// A transfer that libcurl finds no connection for is turned back, and then makes one. As long as one is being made, others
    /// to its origin are held back: libcurl would let them speak HTTP/1.1 on it.
    struct NewConnections {
        private struct Place {
            var makerCount = 0
            var heldBack: [CurlTransfer] = []
        }

        private var places: [Origin: Place] = [:]
        private var released: [CurlTransfer] = []

        /// Whether a transfer makes none and has to wait for one that is being made.
        func mustWait(_ transfer: CurlTransfer) -> Bool {
            !places.isEmpty && !transfer.mayConnect && places[transfer.origin] != nil
        }

        mutating func holdBack(_ transfer: CurlTransfer) {
            places[transfer.origin]?.heldBack.append(transfer)
        }

        /// A transfer makes one from now on.
        mutating func begins(_ transfer: CurlTransfer) {
            transfer.makesConnection = true
            places[transfer.origin, default: Place()].makerCount += 1
        }

        /// A transfer makes none any more: it has one, or has ended. After the last of them the others can be given to libcurl.
        mutating func ends(_ transfer: CurlTransfer) {
            guard transfer.makesConnection, var place = places[transfer.origin] else { return }
            transfer.makesConnection = false
            place.makerCount -= 1
            places[transfer.origin] = place.makerCount > 0 ? place : nil
            if place.makerCount == 0 { released += place.heldBack }
        }

        /// Those that were held back and have not ended since.
        mutating func takeReleased() -> [CurlTransfer] {
            guard !released.isEmpty else { return [] }
            defer { released = [] }
            return released.filter { if case .active = $0.place { true } else { false } }
        }
    }
#endif
