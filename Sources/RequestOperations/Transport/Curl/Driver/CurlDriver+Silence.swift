#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Connections that take several requests at a time, and over which nothing comes any more.
    ///
    /// When a stream ends, libcurl keeps its connection for others. A relay on the way may have forgotten that
    /// connection. Without these functions, libcurl would use it for one request after the other, forever.
    extension CurlDriver {
        /// Ends a transfer whose idle limit has passed. Also ends its connection if nothing has moved over it
        /// meanwhile: libcurl then reports the loss to the other transfers, and uses it for no new one.
        func stopIdle(_ transfer: CurlTransfer) {
            if let socket = silentSocket(of: transfer) {
                shutdown(socket, Int32(SHUT_RDWR))
                for other in active where other.socket == socket { other.lostSilentConnection = true }
            }
            stop(transfer, .idleLimit)
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

    extension CurlTransfer {
        /// Has the kernel give up a connection that others may share, if the other side acknowledges nothing for as long as
        /// the longest idle limit of the transfers that used it. (RFC 5482; 0 means no limit of our own.)
        func limitSilence(of socket: Int32) {
            guard driver.sockets.endures(socket, limits.idle ?? .max) else { return }
            var milliseconds = limits.idle.map { UInt32(clamping: max($0 / 1_000_000, 1)) } ?? 0
            // A socket of another kind than TCP refuses this.
            setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
                socklen_t(MemoryLayout.size(ofValue: milliseconds)))
        }
    }
#endif
