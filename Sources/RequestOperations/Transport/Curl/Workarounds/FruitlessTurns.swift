#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Glibc

    // libcurl 7.88 and others.
    //
    // They ask for events that they cannot use: while the window of an HTTP/2 upload is full, they ask when they can write.
    // The thread would then run without end. So it rests a little after some turns without any result.

    extension CurlDriver {
        /// A turn has ended.
        func noticeFruitlessTurn(waited: Int64) {
            let isFruitless = waited < Self.longestRest && steps == stepsBefore && !hasMail && !isShakingHands
            fruitlessTurns = isFruitless ? fruitlessTurns + 1 : 0
            stepsBefore = steps
        }

        private var hasMail: Bool { inbox.withLock { !$0.isEmpty } }

        /// The steps of a TLS handshake are not told. While TCP connects, there is no work for the thread.
        private var isShakingHands: Bool {
            active.contains { $0.isConnecting && $0.connection.newSockets.contains(where: isConnected) }
        }

        private func isConnected(_ socket: Int32) -> Bool {
            var noRoom: socklen_t = 0
            return getpeername(socket, nil, &noRoom) == 0
        }

        /// Rests after some turns in a row without a result, each time twice as long.
        func rest() {
            guard fruitlessTurns > Self.freeTurns else { return }
            let length = min(Self.shortestRest << Int64(min(fruitlessTurns - Self.freeTurns, 10)), Self.longestRest)
            var time = timespec(tv_sec: 0, tv_nsec: Int(length))
            nanosleep(&time, nil)
        }

        private static let freeTurns = 8
        private static let shortestRest: Int64 = 20_000
        private static let longestRest: Int64 = 2_000_000
    }
#endif
