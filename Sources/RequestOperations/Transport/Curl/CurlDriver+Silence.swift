#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// Connections that take several requests at a time, and over which nothing comes any more.
    ///
    /// When a stream ends, libcurl keeps its connection for others. A relay on the way may have forgotten that
    /// connection. Without these functions, libcurl would use it for one request after the other, forever.
    extension CurlDriver {
        /// Ends a transfer whose idle limit has passed. Also ends its connection if nothing has moved over it
        /// meanwhile.
        func stopIdle(_ transfer: CurlTransfer) {
            let socket = silentSocket(of: transfer)
            // This comes first, because libcurl may close the descriptor, and its number may then belong to something
            // else.
            if let socket { sockets.shutDown(socket) }
            stop(transfer, .idleLimit)
            guard let socket, let multi else { return }
            // Nothing can be sent over the connection any more.
            unsentResets.remove(transfer.connection)
            let others = active.filter { $0.connection == transfer.connection && $0.mayBreakOffStream }
            guard !others.isEmpty else { return }
            for other in others { other.lostSilentConnection = true }
            sockets.read(socket, multi)
            hasLostSilentConnections = true
        }

        /// Ends or repeats the transfers that lost such a connection, before others are given to libcurl.
        func takeLostTransfers(_ multi: UnsafeMutableRawPointer) {
            guard hasLostSilentConnections else { return }
            hasLostSilentConnections = false
            takeFinished(multi)
            // A paused transfer finds out when it goes on.
            for transfer in active { transfer.lostSilentConnection = false }
            sweep(by: now)
        }

        /// The socket of a stream's connection, if nothing moved over that connection while the stream was idle.
        private func silentSocket(of transfer: CurlTransfer) -> Int32? {
            guard transfer.mayBreakOffStream, let socket = socket(of: transfer) else { return nil }
            let since = transfer.deadlines.activity
            let silence = rocurl_silence(socket)
            guard silence >= 0, silence.adding(Self.tick) >= now - since else { return nil }
            // A transfer that waits for its consumer may have filled the connection's window. Then we are silent, not
            // the server.
            let isInUse = active.contains { other in
                other.connection == transfer.connection && other.isReceivingPaused
                    || isSending(other, beside: transfer, since: since)
            }
            return isInUse ? nil : socket
        }

        /// Whether another upload on the connection makes progress. (The kernel of a relay may accept the first bytes
        /// of a new one.)
        private func isSending(_ other: CurlTransfer, beside transfer: CurlTransfer, since: Int64) -> Bool {
            guard other !== transfer, other.upload != nil, other.connection == transfer.connection else { return false }
            let start = other.sent.adding((transfer.limits.idle ?? 0) / 2)
            return other.deadlines.activity > max(since, start)
        }

        /// The socket of the connection that a transfer was sent over; `nil` if it is not known.
        func socket(of transfer: CurlTransfer) -> Int32? {
            guard let easy = transfer.easy else { return nil }
            var address: UnsafePointer<CChar>?
            var port: Int32 = 0
            rocurl_find_remote_end(easy.pointer, &address, &port)
            let ends = ConnectionEnds(localPort: transfer.localPort, remoteAddress: address, remotePort: port)
            return sockets.descriptor(of: ends, likely: transfer.onlySocket)
        }

        /// The longest tick of a kernel, which is its unit for measuring silence.
        private static let tick: Int64 = 10_000_000
    }
#endif
