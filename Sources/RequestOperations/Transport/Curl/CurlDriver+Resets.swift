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
        /// Has the transfers that use the same connections write what libcurl holds back. (Those that wait for their consumers do
        /// it when they go on. A connection that nobody else used has ended.)
        func sendResets() {
            for transfer in active where transfer.pauseMask == 0 && unsentResets.contains(transfer.connection) {
                guard let easy = transfer.easy else { continue }
                // After a pause libcurl looks at the connection in both directions.
                _ = curl_easy_pause(easy.pointer, CURLPAUSE_SEND)
                _ = curl_easy_pause(easy.pointer, CURLPAUSE_CONT)
            }
            unsentResets.removeAll(keepingCapacity: true)
        }
    }
#endif
