#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    // What versions of libcurl do wrong while they wait.

    extension CurlLibrary {
        /// From 8.0 on, the wait for one of a limited number of connections counts as time for connecting. So only the driver
        /// enforces the limit then; see ``EasyHandle/liftConnectLimit()``.
        static let countsWaitsAsConnecting = version >= Version(8, 0)

        /// Before 7.87, removing a handle waits for the thread of its look-up. (Later, `CURLOPT_QUICK_EXIT` leaves the thread
        /// alone.) So the handle of a transfer that ends stays with libcurl until its look-up ends.
        static let waitsForLookups = version < Version(7, 87)
    }

    extension CurlDriver {
        /// Leaves the handle of a transfer that ends with libcurl. A handle without a transfer gets no socket, so it ends
        /// after its look-up.
        func leaveLookup(of transfer: CurlTransfer, _ easy: EasyHandle) {
            easy.transfer = nil
            transfer.easy = nil
            easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
            lastingLookups[Unmanaged.passUnretained(easy).toOpaque()] = easy
        }

        /// From 7.88 to 8.3, libcurl tries the next address of a host after a refusal only when it happens to run again. So
        /// the driver runs it twice.
        var forgetsAddresses: Bool {
            connecting > 0 && CurlLibrary.version >= CurlLibrary.Version(7, 88)
                && CurlLibrary.version < CurlLibrary.Version(8, 4)
        }

        // 7.88 and others ask for events that they cannot use: while the window of an HTTP/2 upload is full, they ask when
        // they can write. So the thread rests a little after some turns in a row without any result, each time twice as long.

        func rest() {
            guard fruitlessTurns > 8 else { return }
            var time = timespec(tv_sec: 0, tv_nsec: 20_000 << min(fruitlessTurns - 8, 6))
            nanosleep(&time, nil)
        }

        /// A turn has ended, after a wait of so many nanoseconds.
        func noteTurn(waited: Int64) {
            let isFruitless = waited < 2_000_000 && steps == stepsBefore && inbox.withLock(\.isEmpty) && !isShakingHands
            fruitlessTurns = isFruitless ? fruitlessTurns + 1 : 0
            stepsBefore = steps
        }

        /// The steps of a TLS handshake are not told. While TCP connects, there is no work for the thread.
        private var isShakingHands: Bool {
            connecting > 0
                && active.contains { $0.place.isConnecting && $0.connection.newSockets.contains(where: isConnected) }
        }

        private func isConnected(_ socket: Int32) -> Bool {
            var noRoom: socklen_t = 0
            return getpeername(socket, nil, &noRoom) == 0
        }
    }
#endif
