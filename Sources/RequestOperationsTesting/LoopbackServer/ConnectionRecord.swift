extension LoopbackServer {
    /// What the server knew about one connection at the moment of the question.
    public struct ConnectionRecord: Sendable, Identifiable {
        /// How a connection ended.
        public enum End: Sendable, Hashable {
            /// The server closed it in order: after a response, after a malformed request, or because it was stopped.
            case closedByServer
            /// The server reset it (RST), because the response asked for it.
            case resetByServer
            /// The client closed it in order (FIN), between requests or in the middle of one. A FIN may only say that
            /// the client will send no more. But if the server is waiting then (in a delay, at a gate or in a stall),
            /// the client counts as gone.
            case closedByPeer
            /// The client reset it (RST). This also happens when the client closes it with unread bytes.
            case resetByPeer
        }

        /// The number of the connection, from 1, in the order in which the connections were accepted.
        public let id: Int
        /// The number of requests whose responses were carried out to their end.
        public internal(set) var requestsServed = 0
        /// Bytes read from the socket, including heads and framing.
        public internal(set) var bytesReceived = 0
        /// Bytes handed to the socket, including heads and framing. The client may not have read them yet.
        public internal(set) var bytesSent = 0
        /// How it ended; nil while it is open.
        public internal(set) var end: End?
        /// The instant at which the server saw or made the end; nil while it is open.
        public internal(set) var endInstant: ContinuousClock.Instant?
    }
}
