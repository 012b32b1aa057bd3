#if PostgreSQL
    import Foundation

    /// What is asked of the descriptor of a connection besides libpq's own calls.
    enum PostgreSQLSocket {
        /// Waits until there is something to read, or an error.
        ///
        /// - Parameters:
        ///   - descriptors: The descriptors.
        ///   - time: How long to wait. `nil` means without end.
        /// - Returns: The descriptors that can be read. None after the time is up.
        static func readable(_ descriptors: [Int32], within time: Duration?) -> [Int32] {
            var polled = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            let end = time.map { ContinuousClock.now + $0 }
            while true {
                let left = end.map { max(($0 - .now) / .milliseconds(1), 0).rounded(.up) }
                let count = poll(&polled, nfds_t(polled.count), left.map { Int32(min($0, 1e9)) } ?? -1)
                // A signal interrupts the wait.
                guard count >= 0 || errno != EINTR else { continue }
                return polled.filter { $0.revents != 0 }.map(\.fd)
            }
        }

        static func isReadable(_ descriptor: Int32, within time: Duration) -> Bool {
            !readable([descriptor], within: time).isEmpty
        }

        /// Ends the connection of a descriptor, so that a thread that waits for its answer goes on.
        static func shutDown(_ descriptor: Int32) {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }
#endif
