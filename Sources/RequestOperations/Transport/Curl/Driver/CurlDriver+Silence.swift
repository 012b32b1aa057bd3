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
            if let silent = silentConnection(of: transfer), let socket = silent.socket {
                shutdown(socket, Int32(SHUT_RDWR))
                for other in users(of: silent) { other.connection.loss = .silence }
            }
            stop(transfer, .idleLimit)
        }

        private func users(of connection: EstablishedConnection) -> [CurlTransfer] {
            active.filter { $0.connection.known === connection }
        }

        /// The connection of a stream, if nothing moved over that connection while the stream was idle.
        private func silentConnection(of transfer: CurlTransfer) -> EstablishedConnection? {
            guard transfer.mayBreakOffStream, let connection = transfer.connection.known, let socket = connection.socket
            else { return nil }
            let since = transfer.deadlines.activity
            let silence = rocurl_silence(socket)
            guard silence >= 0, silence.adding(Self.tick) >= now - since else { return nil }
            // A transfer that waits for its consumer may have filled the connection's window. Then we are silent, not
            // the server.
            let isInUse = users(of: connection).contains { other in
                other.paused.contains(.receiving) || isSending(other, beside: transfer, since: since)
            }
            return isInUse ? nil : connection
        }

        /// Whether another upload on the connection makes progress. (The kernel of a relay may accept the first bytes
        /// of a new one.)
        private func isSending(_ other: CurlTransfer, beside transfer: CurlTransfer, since: Int64) -> Bool {
            guard other !== transfer, other.upload != nil else { return false }
            let start = other.sent.adding((transfer.limits.idle ?? 0) / 2)
            return other.deadlines.activity > max(since, start)
        }

        /// The longest tick of a kernel, which is its unit for measuring silence.
        private static let tick: Int64 = 10_000_000
    }
#endif
