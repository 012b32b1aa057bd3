#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// The connection that a request was sent over, as far as it is known: Unix sockets have no ports.
    struct UsedConnection: Hashable {
        let origin: Origin
        let localPort: Int32
    }

    extension CurlTransfer {
        var connection: UsedConnection { UsedConnection(origin: origin, localPort: localPort) }
    }

    /// How servers hear of streams of HTTP/2 that were broken off, where ``CurlLibrary/holdsBackResets``.
    extension CurlDriver {
        /// Has one of the transfers that use such a connection write what libcurl holds back. (Where all wait for their consumers,
        /// it is written when one goes on. One that nobody used any more has ended, unless libcurl itself failed the transfer.)
        func sendResets() {
            for transfer in active where transfer.pauseMask & CURLPAUSE_RECV == 0 {
                guard let easy = transfer.easy, unsentResets.contains(transfer.connection) else { continue }
                let code = easy.run(paused: transfer.pauseMask)
                // Those without ports cannot be told apart.
                if code == CURLE_OK, transfer.localPort > 0 { unsentResets.remove(transfer.connection) }
                if unsentResets.isEmpty { return }
            }
            unsentResets.removeAll(keepingCapacity: true)
        }
    }
#endif
