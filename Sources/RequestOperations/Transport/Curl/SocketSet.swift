#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// What libcurl waits for on the thread of a driver: its sockets and its timer. The kernel keeps the set of
    /// sockets. So the cost of one event does not depend on how many transfers wait.
    // Unchecked: only the thread of its driver touches it, and before that thread starts, only the thread that starts
    // it.
    final class SocketSet: @unchecked Sendable {
        private var epoll: Int32 = -1
        /// The watches by descriptor. Unchecked for exclusivity: only one thread reads them, at each step of each
        /// transfer.
        @exclusivity(unchecked) private var watches: [SocketWatch] = []
        private let events = UnsafeMutablePointer<rocurl_event>.allocate(capacity: SocketSet.capacity)
        /// How many events have happened since libcurl last handled them.
        private(set) var eventCount: Int32 = 0
        /// When libcurl wants to be called even if nothing happens.
        private(set) var timer = Int64.max

        /// Descriptors that are not watched for output, since libcurl had no use for it.
        private var resting: [Int32] = []
        /// When these descriptors are watched for output again.
        private var restEnd = Int64.max

        /// Descriptors of connections whose input libcurl may hold back.
        private var unseen: [Int32] = []
        /// Descriptors of idle connections that had an event.
        private var ended: [Int32] = []
        /// The idle connections that we have ended since, until libcurl closes them. (The kernel may give the same
        /// local port to connections to different servers.)
        private var endedConnections: [Int32: rocurl_ends] = [:]

        private static let capacity = 64
        private static let restLength: Int64 = 100_000_000

        deinit {
            close()
            events.deallocate()
        }

        /// Begins to watch, if it does not yet. Returns `false` if the system has no descriptor for that.
        func open(wakeDescriptor: Int32) -> Bool {
            guard epoll < 0 else { return true }
            epoll = rocurl_epoll_create()
            guard epoll >= 0 else { return false }
            if rocurl_watch_wakes(epoll, wakeDescriptor) { return true }
            close()
            return false
        }

        func close() {
            guard epoll >= 0 else { return }
            Glibc.close(epoll)
            epoll = -1
        }

        // MARK: What libcurl wants

        func setTimer(milliseconds: Int) {
            timer = milliseconds < 0 ? .max : CurlLibrary.now.adding(Int64(milliseconds) * 1_000_000)
        }

        /// A descriptor was made for a connection. libcurl reports when it is closed, once the connection is
        /// established. Returns `false` if the system cannot watch the descriptor.
        func opened(_ descriptor: Int32) -> Bool {
            reserve(descriptor)
            forgetEnd(of: descriptor)
            // libcurl may not report that a descriptor was closed before its connection was established, if the next
            // one gets its number.
            let interest = watches[Int(descriptor)].wanted
            watches[Int(descriptor)] = SocketWatch(isConnection: true)
            return want(interest, of: descriptor)
        }

        /// The descriptor of a connection is about to be closed.
        func closes(_ descriptor: Int32) {
            guard descriptor < watches.count else { return }
            forgetEnd(of: descriptor)
            // If a child process has the descriptor as well, the kernel would go on watching it.
            _ = change(descriptor) { $0 = SocketWatch() }
        }

        /// Watches a descriptor for what libcurl wants to know. Returns `false` if the system cannot.
        ///
        /// - Parameter mayRest: Whether libcurl may ask for output events that it cannot use.
        func want(_ interest: SocketWatch.Interest, of descriptor: Int32, mayRest: Bool = false) -> Bool {
            reserve(descriptor)
            return change(descriptor) { $0.want(interest, mayRest: mayRest) }
        }

        /// Hides input from libcurl, or stops hiding it.
        func setInput(isWithheld: Bool, of descriptor: Int32) {
            // The descriptor is watched for no more than libcurl wanted. libcurl was told then if it could not be
            // watched.
            _ = change(descriptor) { $0.setInput(isWithheld: isWithheld) }
        }

        /// libcurl keeps a connection that nobody uses.
        func leftIdle(_ descriptor: Int32) {
            reserve(descriptor)
            // If the system cannot watch the connection, libcurl finds its end when the next request uses it, or that
            // request fails.
            _ = change(descriptor) { $0.leaveIdle() }
        }

        /// libcurl has finished with a new connection, and may never have had to wait for it. With a server on the same
        /// machine, everything can happen at once.
        ///
        /// - Parameter localPort: The local port of the connection. libcurl may have closed the descriptor without
        ///   reporting it.
        func leftUnawaited(_ descriptor: Int32, localPort: Int32) {
            reserve(descriptor)
            guard watches[Int(descriptor)].isUnawaited else { return }
            var ends = rocurl_ends()
            if rocurl_find_ends(descriptor, &ends), ends.local_port == localPort { leftIdle(descriptor) }
        }

        /// Makes libcurl look for input of a connection after its turn, even if the kernel has none.
        ///
        /// - Parameter descriptor: The descriptor of the connection; `nil` if it is not known.
        func lookAgain(at descriptor: Int32?) {
            guard let descriptor else {
                for index in watches.indices where watches[index].wanted.contains(.input) {
                    lookAgain(at: Int32(index))
                }
                return
            }
            if !unseen.contains(descriptor) { unseen.append(descriptor) }
        }

        private func reserve(_ descriptor: Int32) {
            while watches.count <= descriptor { watches.append(SocketWatch()) }
        }

        private func change(_ descriptor: Int32, _ body: (inout SocketWatch) -> Void) -> Bool {
            let before = watches[Int(descriptor)].watched
            body(&watches[Int(descriptor)])
            // The descriptor may be idle again, or may be a different connection, when we find out.
            if !ended.isEmpty, !watches[Int(descriptor)].isIdle { ended.removeAll { $0 == descriptor } }
            let after = watches[Int(descriptor)].watched
            if before == after { return true }
            let isDone = rocurl_watch(epoll, descriptor, Int32(before.rawValue), Int32(after.rawValue))
            // The kernel has already forgotten a closed descriptor.
            return isDone || after.isEmpty
        }

        /// When there is work even if nothing happens.
        var deadline: Int64 { unseen.isEmpty ? min(timer, restEnd) : 0 }

        // MARK: What happens

        /// Waits until a socket has an event, the thread is woken, or the time has passed. Returns whether there was an
        /// event.
        func wait(milliseconds: Int32) -> Bool {
            eventCount = rocurl_wait(epoll, events, Int32(Self.capacity), milliseconds)
            return eventCount > 0
        }

        /// Like `wait` without waiting, if no event is recorded yet.
        func ask() {
            if eventCount == 0 { _ = wait(milliseconds: 0) }
        }

        /// Lets libcurl handle the events since the last time.
        ///
        /// - Parameter endsIdle: Whether every connection that seems idle is known to be idle.
        func attend(_ multi: UnsafeMutableRawPointer, endsIdle: @autoclosure () -> Bool) {
            noticeEnds()
            if !ended.isEmpty, endsIdle() { endIdle() }
            let unseen = takeUnseen()
            for event in happened { tell(multi, of: event) }
            eventCount = 0
            attendToTime(multi)
            var running: Int32 = 0
            for descriptor in unseen { curl_multi_socket_action(multi, descriptor, CURL_CSELECT_IN, &running) }
        }

        private var happened: UnsafeBufferPointer<rocurl_event> {
            UnsafeBufferPointer(start: events, count: Int(eventCount))
        }

        private func noticeEnds() {
            for event in happened where isIdle(event.descriptor) {
                ended.append(event.descriptor)
                watches[Int(event.descriptor)].noticeInputWhileIdle()
            }
        }

        /// Ends idle connections that had an event, before one of them is used.
        private func endIdle() {
            for descriptor in ended {
                var ends = rocurl_ends()
                if rocurl_find_ends(descriptor, &ends) { endedConnections[descriptor] = ends }
                rocurl_end_idle(descriptor)
            }
            ended.removeAll()
        }

        private func forgetEnd(of descriptor: Int32) {
            if !endedConnections.isEmpty { endedConnections[descriptor] = nil }
        }

        /// Whether a connection was ended while nobody used it.
        func hasEnded(_ connection: ConnectionEnds) -> Bool {
            !endedConnections.isEmpty && endedConnections.values.contains { connection.mayHave($0) }
        }

        /// A new connection is established. If a connection that was reset had the same port, the port no longer
        /// identifies that one.
        func stands(_ connection: ConnectionEnds) {
            guard !endedConnections.isEmpty, connection.localPort > 0 else { return }
            endedConnections = endedConnections.filter { !connection.mayHave($0.value) }
        }

        /// The descriptor of a connection; `nil` if it cannot be found.
        ///
        /// - Parameter likely: The descriptor that the connection probably has, which is checked first.
        func descriptor(of connection: ConnectionEnds, likely: Int32?) -> Int32? {
            guard connection.localPort > 0 else { return nil }
            if let likely, isOfConnection(likely), has(likely, connection) { return likely }
            return watches.indices.lazy.map { Int32($0) }.first { isOfConnection($0) && has($0, connection) }
        }

        /// How many connections are established. (libcurl does not report when it closes a descriptor whose connection
        /// was never established.)
        var connectionCount: Int { watches.indices.count { isOfConnection(Int32($0)) && stands(Int32($0)) } }

        /// All connections were closed.
        func forgetConnections() {
            for index in watches.indices where watches[index].isConnection {
                _ = change(Int32(index)) { $0 = SocketWatch() }
            }
        }

        private func stands(_ descriptor: Int32) -> Bool {
            var ends = rocurl_ends()
            return rocurl_find_ends(descriptor, &ends) && ends.remote_family != 0
        }

        private func isOfConnection(_ descriptor: Int32) -> Bool {
            descriptor < watches.count && watches[Int(descriptor)].isConnection
        }

        private func has(_ descriptor: Int32, _ connection: ConnectionEnds) -> Bool {
            var ends = rocurl_ends()
            return rocurl_find_ends(descriptor, &ends) && connection.mayHave(ends)
        }

        /// Ends a silent connection. No later request can use it.
        func shutDown(_ descriptor: Int32) {
            var ends = rocurl_ends()
            if rocurl_find_ends(descriptor, &ends) { endedConnections[descriptor] = ends }
            Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
        }

        /// Makes libcurl read from a connection now.
        func read(_ descriptor: Int32, _ multi: UnsafeMutableRawPointer) {
            var running: Int32 = 0
            curl_multi_socket_action(multi, descriptor, CURL_CSELECT_IN, &running)
        }

        private func isIdle(_ descriptor: Int32) -> Bool {
            descriptor < watches.count && watches[Int(descriptor)].isIdle
        }

        /// Takes the descriptors where libcurl has to look for input that no event will report now.
        private func takeUnseen() -> [Int32] {
            guard !unseen.isEmpty else { return [] }
            defer { unseen = [] }
            let read = happened.filter { $0.readiness & CURL_CSELECT_IN != 0 }
            return unseen.filter { descriptor in !read.contains { $0.descriptor == descriptor } }
        }

        private func tell(_ multi: UnsafeMutableRawPointer, of event: rocurl_event) {
            let told = whatToTell(of: event)
            if told.isEmpty { return }
            let mayRest = told.contains(.output) && watches[Int(event.descriptor)].mayRest
            let written = mayRest ? rocurl_written(event.descriptor) : -1
            var running: Int32 = 0
            curl_multi_socket_action(multi, event.descriptor, Int32(told.rawValue), &running)
            if mayRest { noticeWritten(on: event.descriptor, since: written) }
        }

        private func attendToTime(_ multi: UnsafeMutableRawPointer) {
            let now = CurlLibrary.now
            if timer <= now {
                timer = .max
                var running: Int32 = 0
                // `CURL_SOCKET_TIMEOUT`, which is a macro.
                curl_multi_socket_action(multi, -1, 0, &running)
                // libcurl may have used the output in that call.
                endRest()
            } else if restEnd <= now {
                endRest()
            }
        }

        private func noticeWritten(on descriptor: Int32, since before: Int64) {
            let written = rocurl_written(descriptor)
            var rests = false
            _ = change(descriptor) {
                if written >= 0, written == before { rests = $0.restOutput() } else { $0.tryOutput() }
            }
            guard rests else { return }
            resting.append(descriptor)
            restEnd = min(restEnd, CurlLibrary.now.adding(Self.restLength))
        }

        private func endRest() {
            guard !resting.isEmpty else { return }
            for descriptor in resting { _ = change(descriptor) { $0.tryOutput() } }
            resting.removeAll(keepingCapacity: true)
            restEnd = .max
        }

        private func whatToTell(of event: rocurl_event) -> SocketWatch.Interest {
            // The descriptor that wakes the thread is not one of libcurl's.
            guard event.descriptor < watches.count else { return [] }
            var told: SocketWatch.Interest = []
            // The watch only shrinks. At most, the kernel refuses that for closed descriptors.
            _ = change(event.descriptor) {
                told = $0.whatToTell(of: SocketWatch.Interest(rawValue: UInt8(event.readiness)))
            }
            return told
        }
    }
#endif
