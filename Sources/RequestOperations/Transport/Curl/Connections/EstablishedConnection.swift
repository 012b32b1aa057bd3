#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// A connection over which requests go. Only the thread of its driver touches it.
    final class EstablishedConnection {
        /// Its socket; `nil` once libcurl has closed it.
        private(set) var socket: Int32?
        /// The origin of the request for which it was made.
        let origin: Origin
        /// The origins whose requests may share it.
        private(set) var sharers: [Origin] = []
        /// The longest silence that its users endure, in nanoseconds.
        private(set) var longestIdleLimit: Int64 = 0
        /// Whether something came over it in this turn; see ``CurlLibrary/overlooksInput``.
        var hasInput = false

        init(_ socket: Int32, for origin: Origin) {
            self.socket = socket
            self.origin = origin
        }

        /// Whether the other side has ended it while nobody used it.
        ///
        /// - Parameter isPlain: Whether it speaks HTTP/1.1 without TLS. Then input that nobody asked for also ends it:
        ///   it can only be what a server sends before it hangs up. Over TLS and HTTP/2 it may be part of the protocol.
        func hasEnded(isPlain: Bool) -> Bool {
            socket.map { rocurl_has_ended($0, isPlain) } ?? true
        }

        /// Has the kernel give it up if the other side acknowledges nothing for as long as the longest idle limit of its
        /// users, in nanoseconds. (RFC 5482; `nil` means no limit of our own.)
        func limitSilence(to idle: Int64?) {
            guard let socket, idle ?? .max > longestIdleLimit else { return }
            longestIdleLimit = idle ?? .max
            var milliseconds = idle.map { UInt32(clamping: max($0 / 1_000_000, 1)) } ?? 0
            // A socket of another kind than TCP refuses this.
            setsockopt(
                socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
                socklen_t(MemoryLayout.size(ofValue: milliseconds)))
        }

        /// Notes an origin. Returns `false` if it was known.
        func share(with origin: Origin) -> Bool {
            guard !sharers.contains(origin) else { return false }
            sharers.append(origin)
            return true
        }

        /// libcurl is about to close it.
        func noteClosed() {
            socket = nil
        }
    }
#endif
