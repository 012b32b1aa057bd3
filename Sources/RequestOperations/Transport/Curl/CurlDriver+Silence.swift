#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Connections that take several requests at a time, and over which nothing comes any more.
    ///
    /// When a stream is ended, libcurl keeps its connection for others. A connection that a relay on the way has forgotten would
    /// be given to one request after the other, for ever.
    extension CurlDriver {
        /// Ends a transfer whose idle limit has passed, and its connection if nothing has moved over that meanwhile.
        func stopIdle(_ transfer: CurlTransfer) {
            let socket = silentSocket(of: transfer)
            // Before libcurl may close the descriptor, which may be somebody else's from then on.
            if let socket { sockets.shutDown(socket) }
            stop(transfer, .idleLimit)
            guard let socket, let multi else { return }
            // Nothing can be sent over it.
            unsentResets.remove(transfer.connection)
            let others = active.filter { $0.connection == transfer.connection && $0.mayBreakOffStream }
            guard !others.isEmpty else { return }
            for other in others { other.lostSilentConnection = true }
            sockets.read(socket, multi)
            hasLostSilentConnections = true
        }

        /// Ends or repeats the transfers that have lost such a connection, before others are given to libcurl.
        func takeLostTransfers(_ multi: UnsafeMutableRawPointer) {
            guard hasLostSilentConnections else { return }
            hasLostSilentConnections = false
            takeFinished(multi)
            // One that is paused finds out when it goes on.
            for transfer in active { transfer.lostSilentConnection = false }
            sweep(by: now)
        }

        /// The socket of the connection that a stream uses, if nothing moved over that connection while the stream was idle.
        private func silentSocket(of transfer: CurlTransfer) -> Int32? {
            guard transfer.mayBreakOffStream, let socket = socket(of: transfer) else { return nil }
            let since = transfer.deadlines.activity
            let silence = rocurl_silence(socket)
            guard silence >= 0, silence.adding(Self.tick) >= now - since else { return nil }
            // One that waits for its consumer may have filled the connection's window: then we are silent, and not the server.
            let isInUse = active.contains { other in
                other.connection == transfer.connection && other.isReceivingPaused
                    || isSending(other, beside: transfer, since: since)
            }
            return isInUse ? nil : socket
        }

        /// Whether an upload gets on beside a transfer. (What a new one sends at first, the kernel of a relay may take.)
        private func isSending(_ other: CurlTransfer, beside transfer: CurlTransfer, since: Int64) -> Bool {
            guard other !== transfer, other.upload != nil, other.connection == transfer.connection else { return false }
            let start = other.sent.adding((transfer.limits.idle ?? 0) / 2)
            return other.deadlines.activity > max(since, start)
        }

        /// The socket of the connection that a transfer was sent over; `nil` if that is not known.
        func socket(of transfer: CurlTransfer) -> Int32? {
            guard let easy = transfer.easy else { return nil }
            var address: UnsafePointer<CChar>?
            var port: Int32 = 0
            rocurl_find_remote_end(easy.pointer, &address, &port)
            let ends = ConnectionEnds(localPort: transfer.localPort, remoteAddress: address, remotePort: port)
            return sockets.descriptor(of: ends, likely: transfer.onlySocket)
        }

        /// The longest tick of a kernel, by which it measures silence.
        private static let tick: Int64 = 10_000_000
    }
#endif
