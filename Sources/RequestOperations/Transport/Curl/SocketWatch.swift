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
        /// Whether libcurl, told that output is possible, sent nothing: over HTTP/2 it may have to wait until the other side
        /// takes more, and some of its versions want to know of output all the while, which would be told without end.
        private var hasNoUseForOutput = false
        /// Whether it is known when the descriptor is closed, and its number free for something else.
        private let isConnection: Bool

        init(isConnection: Bool = false) {
            self.isConnection = isConnection
        }

        /// Takes note of what libcurl wants to know from now on.
        mutating func want(_ interest: Interest) {
            wanted = interest
            // One that libcurl has done with starts anew.
            if interest.isEmpty { withholdsInput = false }
            hasNoUseForOutput = false
            // Output is possible nearly always, so the kernel would tell of it again and again.
            watched = isConnection ? wanted.union(watched.intersection(.input)) : wanted
        }

        /// Keeps input from libcurl, or does so no longer.
        mutating func setInput(isWithheld: Bool) {
            withholdsInput = isWithheld
            want(wanted)
        }

        /// Stops watching for output, until there is input or ``tryOutput()``.
        mutating func restOutput() {
            guard wanted.contains(.output) else { return }
            hasNoUseForOutput = true
            watched.remove(.output)
        }

        mutating func tryOutput() {
            if hasNoUseForOutput { want(wanted) }
        }

        /// Something happened; what libcurl is to be told of it. If that is nothing, the kernel is not to tell of it again.
        mutating func whatToTell(of event: Interest) -> Interest {
            var event = event
            if hasNoUseForOutput, event.contains(.input) {
                // It may be what it waits for.
                tryOutput()
                event.formUnion(wanted.intersection(.output))
            }
            let hidden: Interest = withholdsInput ? .input : []
            guard wanted.subtracting(hidden).isDisjoint(with: event) else { return event.subtracting(hidden) }
            watched = wanted.subtracting(hidden)
            return []
        }
    }
#endif
