#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

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
            if let socket { shutdown(socket, Int32(SHUT_RDWR)) }
            stop(transfer, .idleLimit)
            guard let socket else { return }
            // Nothing can be sent over the connection any more.
            unsentResets.remove(socket)
            for other in active where other.socket == socket && other.mayBreakOffStream {
                other.lostSilentConnection = true
                hasLostSilentConnections = true
            }
        }

        /// Ends or repeats the transfers that lost such a connection, before others are given to libcurl.
        func takeLostTransfers(_ multi: UnsafeMutableRawPointer) {
            guard hasLostSilentConnections else { return }
            hasLostSilentConnections = false
            perform(multi)
            takeFinished(multi)
            // A paused transfer finds out when it goes on.
            for transfer in active { transfer.lostSilentConnection = false }
            sweep(by: now)
        }

        /// The socket of a stream's connection, if nothing moved over that connection while the stream was idle.
        private func silentSocket(of transfer: CurlTransfer) -> Int32? {
            guard transfer.mayBreakOffStream, let socket = transfer.socket else { return nil }
            let since = transfer.deadlines.activity
            let silence = rocurl_silence(socket)
            guard silence >= 0, silence.adding(Self.tick) >= now - since else { return nil }
            // A transfer that waits for its consumer may have filled the connection's window. Then we are silent, not
            // the server.
            let isInUse = active.contains { other in
                other.socket == socket && other.isReceivingPaused || isSending(other, beside: transfer, since: since)
            }
            return isInUse ? nil : socket
        }

        /// Whether another upload on the connection makes progress. (The kernel of a relay may accept the first bytes
        /// of a new one.)
        private func isSending(_ other: CurlTransfer, beside transfer: CurlTransfer, since: Int64) -> Bool {
            guard other !== transfer, other.upload != nil, other.socket == transfer.socket else { return false }
            let start = other.sent.adding((transfer.limits.idle ?? 0) / 2)
            return other.deadlines.activity > max(since, start)
        }

        /// The longest tick of a kernel, which is its unit for measuring silence.
        private static let tick: Int64 = 10_000_000
    }
#endif
