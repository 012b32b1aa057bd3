#if os(Linux)
    /// The channel of a route monitor, for changes and for questions. It is a kernel socket, or the script of a test.
    protocol RouteChannel: Sendable {
        /// Sends a question. Returns whether it was sent.
        func send(_ message: [UInt8]) -> Bool

        /// Receives one datagram.
        ///
        /// - Parameter waiting: Whether to wait for a datagram, for at most a second.
        func receive(waiting: Bool) -> RouteSocket.Outcome

        /// Calls a handler on a queue whenever there is something to receive.
        ///
        /// - Returns: A closure that ends the calls.
        func watch(on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) -> @Sendable () -> Void
    }
#endif
