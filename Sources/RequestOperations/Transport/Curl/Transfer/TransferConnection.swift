#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    /// What is known of the connection of one transfer.
    struct TransferConnection {
        /// The sockets that were made for it since its request was last sent. All but one are given up for another address.
        var newSockets: [Int32] = []
        /// Whether a socket was ever made for it, or since it last waited for a look-up or a descriptor.
        private(set) var hasSocket = false
        /// The connection that the request was last sent over, if that is known.
        var known: EstablishedConnection?
        /// Whether the request was last sent over a connection that was not made for it.
        var isReused = false
        /// Whether the request was first sent over a connection that may take other requests at the same time.
        var isShared = false
        /// Whether the last socket was made for an IPv4 address.
        var isIPv4 = false
        /// An address of the host to which the transport may not connect.
        var refusedAddress: String?
        /// Why the chain of the server was refused, if it had no pin.
        var refusedChain: PinReport?
        /// Whether there was a route to an address that was tried before the last one.
        var triedReachable = false
        /// How it was lost, if we know before libcurl reports that.
        var loss: Loss?

        enum Loss {
            /// It had ended before libcurl chose it. The request was not sent.
            case beforeUse
            /// We ended it, because nothing came over it.
            case silence
        }

        /// Whether libcurl has closed the connection that the request was last sent over.
        var isClosed: Bool { known.map { $0.socket == nil } ?? false }

        /// A socket was made for it.
        mutating func opens(_ socket: Int32) {
            newSockets.append(socket)
            hasSocket = true
        }

        /// The sockets that were made for it are gone.
        mutating func forgetSockets() {
            newSockets = []
            hasSocket = false
        }
    }
#endif
