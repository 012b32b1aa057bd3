#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What one descriptor is watched for: what libcurl wants to know, and what the kernel was asked to report.
    ///
    /// libcurl loses its interest in a connection at the end of each request, and takes it up again with the next one.
    /// The kernel keeps watching an open connection for input in between. That saves two system calls for each request.
    /// It stops when an event comes that nobody wants.
    struct SocketWatch {
        struct Interest: OptionSet {
            let rawValue: UInt8

            /// The same values as libcurl's `CURL_POLL_IN` and `CURL_CSELECT_IN`.
            static let input = Interest(rawValue: 1)
            static let output = Interest(rawValue: 2)
        }

        private(set) var wanted: Interest = []
        /// What the kernel has to watch.
        private(set) var watched: Interest = []
        /// Whether input is hidden from libcurl although it wants to know of it.
        private var withholdsInput = false
        /// Whether there may be output events that libcurl cannot use. Over HTTP/2, it has to wait while the other side
        /// accepts no more. Some of its versions still ask for output then, and would get events without end.
        private(set) var mayRest = false
        /// Whether that is so now. The kernel is not asked for output then.
        private var restsOutput = false
        private var use = Use.inUse
        /// Whether the connection is idle, and libcurl has to learn when it has ended.
        var isIdle: Bool { use != .inUse }
        /// Whether we learn when the descriptor is closed and its number becomes free.
        let isConnection: Bool

        init(isConnection: Bool = false) {
            self.isConnection = isConnection
        }

        private enum Use {
            case inUse
            case idle
            /// Idle, and the kernel has reported input since.
            case idleWithInput
        }

        /// Records what libcurl wants to know from now on.
        mutating func want(_ interest: Interest, mayRest: Bool = false) {
            wanted = interest
            use = .inUse
            self.mayRest = mayRest
            restsOutput = false
            // If libcurl has finished with a descriptor, it starts anew.
            if interest.isEmpty { withholdsInput = false }
            watch(for: wanted.union(isConnection ? watched.intersection(.input) : []))
        }

        /// Records that libcurl keeps the connection and wants to know nothing of it. (It may never have asked for
        /// input: a response can arrive as soon as its request is sent.)
        mutating func leaveIdle() {
            want([])
            use = .idle
            if isConnection { watch(for: .input) }
        }

        /// Records that the kernel has reported an event of a connection that was idle by then.
        mutating func noticeInputWhileIdle() {
            if isIdle { use = .idleWithInput }
        }

        /// Whether it is a connection that libcurl has not waited for since it was made or last used.
        var isUnawaited: Bool { isConnection && !isIdle && wanted.isEmpty }

        // Output is possible nearly always. The kernel would report it again and again where nobody wants it.
        private mutating func watch(for interest: Interest) {
            watched = interest
            if withholdsInput { watched.remove(.input) }
            if restsOutput { watched.remove(.output) }
        }

        /// Hides input from libcurl, or stops hiding it.
        mutating func setInput(isWithheld: Bool) {
            withholdsInput = isWithheld
            watch(for: wanted)
        }

        /// libcurl was told that output is possible, and sent nothing. Stops watching for output; returns `false` if
        /// that changes nothing.
        mutating func restOutput() -> Bool {
            guard mayRest, !restsOutput, wanted.contains(.output) else { return false }
            restsOutput = true
            watch(for: watched)
            return true
        }

        /// Watches for output again.
        mutating func tryOutput() {
            guard restsOutput else { return }
            restsOutput = false
            watch(for: watched.union(wanted))
        }

        /// Returns what libcurl has to be told of an event. If that is nothing, the kernel no longer reports such
        /// events.
        mutating func whatToTell(of event: Interest) -> Interest {
            var event = event
            // The input may be what the output waits for.
            if restsOutput, event.contains(.input) { event.formUnion(wanted.intersection(.output)) }
            if withholdsInput { event.remove(.input) }
            guard wanted.isDisjoint(with: event) else { return event }
            // libcurl may serve a connection, and leave it idle, before we tell it of this event. The event is of no
            // more use then. The next one says that the server has ended the connection.
            if use == .idle { return [] }
            watch(for: wanted)
            return []
        }
    }
#endif
