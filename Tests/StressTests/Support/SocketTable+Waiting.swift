#if os(Linux)
    import RequestOperationsTesting

    extension SocketTable {
        /// Whether what has to become of the sockets is so within some time.
        static func becomes(within limit: Duration, _ condition: ([Entry]) -> Bool) async throws -> Bool {
            let end = ContinuousClock.now + limit
            while true {
                if condition(now) { return true }
                if ContinuousClock.now >= end { return false }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
#endif
