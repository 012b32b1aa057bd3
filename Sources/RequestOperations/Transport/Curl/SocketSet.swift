#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc

    /// Where the connection of a request begins and ends, as libcurl tells it. One of a Unix socket has no ports, so that it
    /// cannot be told from others: a whole one may be given up for one that has ended.
    struct ConnectionEnds {
        let localPort: Int32
        /// A text, in libcurl's hands.
        let remoteAddress: UnsafePointer<CChar>?
        let remotePort: Int32

        func mayHave(_ ends: rocurl_ends) -> Bool {
            withUnsafePointer(to: ends) { rocurl_may_have_ends($0, localPort, remoteAddress, remotePort) }
        }
    }

    /// What libcurl waits for on the thread of a driver: its sockets and its timer. The kernel keeps the sockets, so that what
    /// one event costs does not depend on how many transfers wait for theirs.
    // Unchecked: touched by the thread of its driver alone, and before its start by the one that starts it.
    final class SocketSet: @unchecked Sendable {
        private var epoll: Int32 = -1
        /// By descriptor; unchecked, since one thread alone asks for them, at each step of each transfer.
        @exclusivity(unchecked) private var watches: [SocketWatch] = []
        private let events = UnsafeMutablePointer<rocurl_event>.allocate(capacity: SocketSet.capacity)
        /// How many have happened since libcurl last attended to them.
        private(set) var eventCount: Int32 = 0
        /// When libcurl wants to be called in any case.
        private(set) var timer = Int64.max

        /// Descriptors that are not watched for output, since libcurl had no use for it.
        private var resting: [Int32] = []
        /// When it is tried nevertheless.
        private var restEnd = Int64.max

        /// Descriptors of connections of which libcurl may hold back input.
        private var unseen: [Int32] = []
        /// Those of idle connections that had something to tell.
        private var ended: [Int32] = []
        /// Such connections, ended since, until libcurl closes them. (The kernel may give one port on our side to connections
        /// to different servers.)
        private var endedConnections: [Int32: rocurl_ends] = [:]

        private static let capacity = 64
        private static let restLength: Int64 = 100_000_000

        deinit {
            close()
            events.deallocate()
        }

        /// Begins to watch, if it does not; `false` if the system has no descriptor for that.
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

        /// A descriptor was made for a connection, which will say when it is closed once it stands; `false` if the system
        /// cannot watch it.
        func opened(_ descriptor: Int32) -> Bool {
            reserve(descriptor)
            forgetEnd(of: descriptor)
            // Of one that was closed before its connection stood libcurl may not tell if the next takes its number.
            let interest = watches[Int(descriptor)].wanted
            watches[Int(descriptor)] = SocketWatch(isConnection: true)
            return want(interest, of: descriptor)
        }

        /// The descriptor of a connection is about to be closed.
        func closes(_ descriptor: Int32) {
            guard descriptor < watches.count else { return }
            forgetEnd(of: descriptor)
            // If a child of the process has it as well, the kernel would go on watching it.
            _ = change(descriptor) { $0 = SocketWatch() }
        }

        /// Watches a descriptor for what libcurl wants to know of it; `false` if the system cannot.
        ///
        /// - Parameter mayRest: Whether libcurl may want to know of output of which it makes nothing.
        func want(_ interest: SocketWatch.Interest, of descriptor: Int32, mayRest: Bool = false) -> Bool {
            reserve(descriptor)
            return change(descriptor) { $0.want(interest, mayRest: mayRest) }
        }

        /// Keeps input from libcurl, or does so no longer.
        func setInput(isWithheld: Bool, of descriptor: Int32) {
            // It is watched for no more than libcurl wanted, which was told what cannot be watched.
            _ = change(descriptor) { $0.setInput(isWithheld: isWithheld) }
        }

        /// libcurl keeps a connection that nobody uses.
        func leftIdle(_ descriptor: Int32) {
            reserve(descriptor)
            // If the system cannot watch it, libcurl finds its end when the next request uses it, or that fails.
            _ = change(descriptor) { $0.leaveIdle() }
        }

        /// libcurl has done with a new connection, and may never have had to wait for it: with a server on the same machine all
        /// can happen at once.
        ///
        /// - Parameter localPort: Its port on our side: libcurl may have closed the descriptor without a word.
        func leftUnawaited(_ descriptor: Int32, localPort: Int32) {
            reserve(descriptor)
            guard watches[Int(descriptor)].isUnawaited else { return }
            var ends = rocurl_ends()
            if rocurl_find_ends(descriptor, &ends), ends.local_port == localPort { leftIdle(descriptor) }
        }

        /// Has libcurl look for input of a connection, whether the kernel has any or not, once it had its turn.
        ///
        /// - Parameter descriptor: That of the connection; `nil` if it is not known.
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
            // It may be idle again, or another one, when it is known to be.
            if !ended.isEmpty, !watches[Int(descriptor)].isIdle { ended.removeAll { $0 == descriptor } }
            let after = watches[Int(descriptor)].watched
            if before == after { return true }
            let isDone = rocurl_watch(epoll, descriptor, Int32(before.rawValue), Int32(after.rawValue))
            // One that is closed the kernel has forgotten.
            return isDone || after.isEmpty
        }

        /// When something is to be done even if nothing happens.
        var deadline: Int64 { unseen.isEmpty ? min(timer, restEnd) : 0 }

        // MARK: What happens

        /// Waits until something happens to one of the sockets, or the thread is woken, or the time has passed; whether
        /// something happened.
        func wait(milliseconds: Int32) -> Bool {
            eventCount = rocurl_wait(epoll, events, Int32(Self.capacity), milliseconds)
            return eventCount > 0
        }

        /// As `wait` without waiting, if nothing has happened since.
        func ask() {
            if eventCount == 0 { _ = wait(milliseconds: 0) }
        }

        /// Lets libcurl attend to what has happened since the last time.
        ///
        /// - Parameter endsIdle: Whether it is known of each connection that seems to be used by nobody.
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
            for event in happened where isIdle(event.descriptor) { ended.append(event.descriptor) }
        }

        /// Ends the connections that nobody uses and that had something to tell, before one of them is used.
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

        /// Whether a connection was ended when nobody used it.
        func hasEnded(_ connection: ConnectionEnds) -> Bool {
            !endedConnections.isEmpty && endedConnections.values.contains { connection.mayHave($0) }
        }

        /// A new connection stands. If one that was reset had its port, that is not known by its port any longer.
        func stands(_ connection: ConnectionEnds) {
            guard !endedConnections.isEmpty, connection.localPort > 0 else { return }
            endedConnections = endedConnections.filter { !connection.mayHave($0.value) }
        }

        /// The descriptor of a connection; `nil` if it cannot be told.
        ///
        /// - Parameter likely: The one that it probably has, which is looked at first.
        func descriptor(of connection: ConnectionEnds, likely: Int32?) -> Int32? {
            guard connection.localPort > 0 else { return nil }
            if let likely, isOfConnection(likely), has(likely, connection) { return likely }
            return watches.indices.lazy.map { Int32($0) }.first { isOfConnection($0) && has($0, connection) }
        }

        /// How many connections stand. (libcurl does not tell when it closes a descriptor whose connection never stood.)
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

        /// Ends a connection over which nothing comes any more. No later request gets on over it.
        func shutDown(_ descriptor: Int32) {
            var ends = rocurl_ends()
            if rocurl_find_ends(descriptor, &ends) { endedConnections[descriptor] = ends }
            Glibc.shutdown(descriptor, Int32(SHUT_RDWR))
        }

        /// Has libcurl read from a connection now.
        func read(_ descriptor: Int32, _ multi: UnsafeMutableRawPointer) {
            var running: Int32 = 0
            curl_multi_socket_action(multi, descriptor, CURL_CSELECT_IN, &running)
        }

        private func isIdle(_ descriptor: Int32) -> Bool {
            descriptor < watches.count && watches[Int(descriptor)].isIdle
        }

        /// Where libcurl is to look for input of which no event will tell it now.
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
                // It may have made something of output in there.
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
            // The one that wakes the thread is none of libcurl's.
            guard event.descriptor < watches.count else { return [] }
            var told: SocketWatch.Interest = []
            // It changes to less, which the kernel refuses for closed ones at most.
            _ = change(event.descriptor) {
                told = $0.whatToTell(of: SocketWatch.Interest(rawValue: UInt8(event.readiness)))
            }
            return told
        }
    }
#endif
