extension LoopbackServer {
    /// What the server knows of one connection, as of the moment it was asked.
    public struct ConnectionRecord: Sendable, Identifiable {
        /// How a connection ended.
        public enum End: Sendable, Hashable {
            /// The server closed it in order: after a response, for a malformed request, or because it was stopped.
            case closedByServer
            /// The server reset it (RST), as the response said.
            case resetByServer
            /// The client closed it in order (FIN), between requests or in the middle of one. A client may say only that
            /// it will send no more. It counts as gone if the server is waiting then: in a delay, at a gate, in a stall.
            case closedByPeer
            /// The client reset it (RST), as it does when it closes with unread bytes.
            case resetByPeer
        }

        /// From 1, in the order in which the connections were accepted.
        public let id: Int
        /// The requests whose responses were carried out to their end.
        public internal(set) var requestsServed = 0
        /// Bytes read from the socket, heads and framing included.
        public internal(set) var bytesReceived = 0
        /// Bytes handed to the socket, heads and framing included. The client may not have read them yet.
        public internal(set) var bytesSent = 0
        /// How it ended; nil while it is open.
        public internal(set) var end: End?
        /// The instant at which the server saw or made the end; nil while it is open.
        public internal(set) var endInstant: ContinuousClock.Instant?
    }
}
