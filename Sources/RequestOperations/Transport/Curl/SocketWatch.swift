#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl

    /// What one descriptor is watched for: what libcurl wants to know of it, and what the kernel has been asked to tell.
    ///
    /// libcurl loses its interest in a connection at the end of each request and takes it up again with the next. The kernel
    /// goes on watching an open connection for input meanwhile, which saves two system calls for each request, until
    /// something happens that nobody wants to know.
    struct SocketWatch {
        struct Interest: OptionSet {
            let rawValue: UInt8

            /// As in libcurl's `CURL_POLL_IN` and `CURL_CSELECT_IN`.
            static let input = Interest(rawValue: 1)
            static let output = Interest(rawValue: 2)
        }

        private(set) var wanted: Interest = []
        /// What the kernel is to watch.
        private(set) var watched: Interest = []
        /// Whether libcurl is to hear nothing of input, though it wants to.
        private var withholdsInput = false
        /// Whether output may be possible of which libcurl makes nothing: over HTTP/2 it has to wait while the other side takes
        /// no more, and some of its versions want to know of output all the while, which would be told without end.
        private(set) var mayRest = false
        /// Whether that is so now, so that the kernel is not asked for output.
        private var restsOutput = false
        /// Whether it is of a connection that nobody uses, of which libcurl is to learn that it has ended.
        private(set) var isIdle = false
        /// Whether it is known when the descriptor is closed, and its number free for something else.
        let isConnection: Bool

        init(isConnection: Bool = false) {
            self.isConnection = isConnection
        }

        /// Takes note of what libcurl wants to know from now on.
        mutating func want(_ interest: Interest, mayRest: Bool = false) {
            wanted = interest
            isIdle = false
            self.mayRest = mayRest
            restsOutput = false
            // One that libcurl has done with starts anew.
            if interest.isEmpty { withholdsInput = false }
            watch(for: wanted.union(isConnection ? watched.intersection(.input) : []))
        }

        /// Takes note that libcurl keeps the connection and wants to know nothing of it. (It may never have wanted to know of
        /// input: a response can be there as soon as its request is sent.)
        mutating func leaveIdle() {
            want([])
            isIdle = true
            if isConnection { watch(for: .input) }
        }

        /// Whether it is a connection of which libcurl has wanted to know nothing since it was made, or used last.
        var isUnawaited: Bool { isConnection && !isIdle && wanted.isEmpty }

        // Output is possible nearly always, so the kernel would tell of it again and again where nobody wants it.
        private mutating func watch(for interest: Interest) {
            watched = interest
            if withholdsInput { watched.remove(.input) }
            if restsOutput { watched.remove(.output) }
        }

        /// Keeps input from libcurl, or does so no longer.
        mutating func setInput(isWithheld: Bool) {
            withholdsInput = isWithheld
            watch(for: wanted)
        }

        /// libcurl was told that output is possible, and sent nothing: stops watching for it; `false` if that changes nothing.
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

        /// Something happened; what libcurl is to be told of it. If that is nothing, the kernel is not to tell of it again.
        mutating func whatToTell(of event: Interest) -> Interest {
            var event = event
            // The input may be what it waits for.
            if restsOutput, event.contains(.input) { event.formUnion(wanted.intersection(.output)) }
            if withholdsInput { event.remove(.input) }
            guard wanted.isDisjoint(with: event) else { return event }
            watch(for: wanted)
            return []
        }
    }
#endif
