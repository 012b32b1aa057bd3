#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Glibc
    import Testing

    @testable import RequestOperations

    struct SocketSetTests {
        private let sockets = SocketSet()
        private let wake = rocurl_wake_create()

        init() throws {
            try #require(sockets.open(wakeDescriptor: wake))
        }

        @Test func `Each wake ends one wait, and all of them are counted at the end`() {
            for _ in 1...3 {
                rocurl_wake(wake)
                #expect(sockets.wait(milliseconds: 60_000))
            }
            #expect(!sockets.wait(milliseconds: 0))
            #expect(rocurl_take_wakes(wake) == 3)
        }

        @Test func `Begun a second time, since no thread could be started, it watches as before`() {
            #expect(sockets.open(wakeDescriptor: wake))
            rocurl_wake(wake)
            #expect(sockets.wait(milliseconds: 60_000))
        }

        @Test func `A timer of less than nothing is none`() {
            sockets.setTimer(milliseconds: 10)
            let isSet = sockets.timer < .max
            sockets.setTimer(milliseconds: -1)
            #expect(isSet && sockets.timer == .max)
        }

        @Test func `A number that a closed connection had is watched anew for whoever has it next`() throws {
            let first = try pair()
            #expect(sockets.opened(first.near))
            #expect(sockets.want(.input, of: first.near))
            #expect(sockets.want([], of: first.near))
            sockets.closes(first.near)
            let second = try pair()
            // Closes the first one.
            try #require(dup2(second.near, first.near) == first.near)
            #expect(sockets.want(.input, of: first.near))
            #expect(!sockets.wait(milliseconds: 0))
            #expect(write(second.far, "x", 1) == 1)
            #expect(sockets.wait(milliseconds: 60_000))
            for descriptor in [first.near, first.far, second.near, second.far] { close(descriptor) }
        }

        @Test func `A socket that takes the number of one that libcurl waits for is watched in its place`() throws {
            let first = try pair()
            #expect(sockets.opened(first.near))
            #expect(sockets.want(.input, of: first.near))
            let second = try pair()
            try #require(dup2(second.near, first.near) == first.near)
            #expect(sockets.opened(first.near))
            #expect(write(second.far, "x", 1) == 1)
            #expect(sockets.wait(milliseconds: 60_000))
            for descriptor in [first.near, first.far, second.near, second.far] { close(descriptor) }
        }

        @Test func `An idle connection that has something to tell is ended, whatever it tells`() throws {
            try withIdle { idle, multi in
                #expect(write(idle.far, "x", 1) == 1)
                sockets.ask()
                sockets.attend(multi, endsIdle: true)
                #expect(hasEnded(idle.near) && hasEnded(idle.far))
            }
        }

        @Test func `A connection that libcurl never had to wait for is ended like others`() throws {
            let unawaited = try pair()
            let multi = try #require(curl_multi_init())
            #expect(sockets.opened(unawaited.near))
            sockets.leftUnawaited(unawaited.near, localPort: 0)
            #expect(write(unawaited.far, "x", 1) == 1)
            #expect(sockets.wait(milliseconds: 60_000))
            sockets.attend(multi, endsIdle: true)
            #expect(hasEnded(unawaited.far))
            curl_multi_cleanup(multi)
            for descriptor in [unawaited.near, unawaited.far] { close(descriptor) }
        }

        @Test func `A descriptor that is another one meanwhile is not taken for left`() throws {
            let (unawaited, localPort, _) = try connectionOfTCP()
            #expect(sockets.opened(unawaited.near))
            sockets.leftUnawaited(unawaited.near, localPort: localPort ^ 1)
            #expect(write(unawaited.far, "x", 1) == 1)
            #expect(!sockets.wait(milliseconds: 0))
            sockets.leftUnawaited(unawaited.near, localPort: localPort)
            #expect(sockets.wait(milliseconds: 60_000))
            for descriptor in [unawaited.near, unawaited.far] { close(descriptor) }
        }

        @Test func `One that libcurl waits for is not taken for left`() throws {
            let sockets = try pair()
            #expect(self.sockets.opened(sockets.near) && self.sockets.want(.input, of: sockets.near))
            self.sockets.leftUnawaited(sockets.near, localPort: 0)
            #expect(write(sockets.far, "x", 1) == 1 && self.sockets.wait(milliseconds: 60_000))
            let multi = try #require(curl_multi_init())
            self.sockets.attend(multi, endsIdle: true)
            #expect(!hasEnded(sockets.far))
            curl_multi_cleanup(multi)
            for descriptor in [sockets.near, sockets.far] { close(descriptor) }
        }

        @Test func `An idle connection that has nothing to tell stays`() throws {
            try withIdle { idle, multi in
                sockets.ask()
                sockets.attend(multi, endsIdle: true)
                #expect(!hasEnded(idle.near) && !hasEnded(idle.far))
            }
        }

        @Test func `A connection that seems idle is not ended while it may be in use, but after that`() throws {
            try withIdle { idle, multi in
                #expect(write(idle.far, "x", 1) == 1)
                sockets.ask()
                sockets.attend(multi, endsIdle: false)
                #expect(!hasEnded(idle.far))
                sockets.attend(multi, endsIdle: true)
                #expect(hasEnded(idle.near) && hasEnded(idle.far))
            }
        }

        @Test func `A connection that was idle and is used again is not ended`() throws {
            try withIdle { idle, multi in
                #expect(write(idle.far, "x", 1) == 1)
                sockets.ask()
                sockets.attend(multi, endsIdle: false)
                #expect(sockets.want(.input, of: idle.near))
                sockets.attend(multi, endsIdle: true)
                #expect(!hasEnded(idle.far))
            }
        }

        @Test func `An ended connection is known by both its ends, until it is closed`() throws {
            let (connection, localPort, remotePort) = try connectionOfTCP()
            try withIdle(connection) { idle, multi in
                #expect(!knowsAsEnded(localPort, "127.0.0.1", remotePort))
                #expect(write(idle.far, "x", 1) == 1)
                #expect(sockets.wait(milliseconds: 60_000))
                sockets.attend(multi, endsIdle: true)
                closeKeepingNumber(idle.far)
                #expect(knowsAsEnded(localPort, "127.0.0.1", remotePort))
                #expect(!knowsAsEnded(remotePort, "127.0.0.1", localPort))
                // The kernel may give one port to connections to different servers.
                #expect(!knowsAsEnded(localPort, "127.0.0.2", remotePort))
                #expect(!knowsAsEnded(localPort, "127.0.0.1", remotePort ^ 1))
                #expect(!knowsAsEnded(localPort, "::1", remotePort))
                // As which libcurl may know it.
                #expect(knowsAsEnded(localPort, "0.0.0.0", remotePort))
                sockets.closes(idle.near)
                #expect(!knowsAsEnded(localPort, "127.0.0.1", remotePort))
            }
        }

        @Test func `Of an ended connection that was reset nothing but our port is known`() throws {
            let (connection, localPort, remotePort) = try connectionOfTCP()
            try withIdle(connection) { idle, multi in
                var resets = linger(l_onoff: 1, l_linger: 0)
                let size = socklen_t(MemoryLayout<linger>.size)
                try #require(setsockopt(idle.far, SOL_SOCKET, SO_LINGER, &resets, size) == 0)
                closeKeepingNumber(idle.far)
                #expect(sockets.wait(milliseconds: 60_000))
                sockets.attend(multi, endsIdle: true)
                #expect(knowsAsEnded(localPort, "127.0.0.1", remotePort))
                #expect(!knowsAsEnded(remotePort, "127.0.0.1", localPort))
                // The kernel may have given the port to this one since.
                sockets.stands(ConnectionEnds(localPort: localPort, remoteAddress: nil, remotePort: remotePort))
                #expect(!knowsAsEnded(localPort, "127.0.0.1", remotePort))
            }
        }

        @Test(arguments: [("::1", true), ("::", true), ("::2", false), ("127.0.0.1", false), ("localhost", false)])
        func `The other end of a connection of IPv6 is told from others`(address: String, isSame: Bool) {
            var ends = rocurl_ends()
            (ends.local_port, ends.remote_port, ends.remote_family) = (50_000, 80, AF_INET6)
            ends.remote_address.15 = 1
            address.withCString {
                #expect(ConnectionEnds(localPort: 50_000, remoteAddress: $0, remotePort: 80).mayHave(ends) == isSame)
            }
            #expect(!ConnectionEnds(localPort: 50_000, remoteAddress: nil, remotePort: 80).mayHave(ends))
        }

        private func closeKeepingNumber(_ descriptor: Int32) {
            #expect(dup2(wake, descriptor) == descriptor)
        }

        private func knowsAsEnded(_ localPort: Int32, _ remoteAddress: String, _ remotePort: Int32) -> Bool {
            remoteAddress.withCString {
                sockets.hasEnded(
                    ConnectionEnds(localPort: localPort, remoteAddress: $0, remotePort: remotePort))
            }
        }

        /// With the ports of both sides.
        private func connectionOfTCP() throws -> ((near: Int32, far: Int32), localPort: Int32, remotePort: Int32) {
            let type = Int32(SOCK_STREAM.rawValue)
            let listener = socket(AF_INET, type, 0)
            try #require(listen(listener, 1) == 0)
            var ends = rocurl_ends()
            try #require(rocurl_find_ends(listener, &ends))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(ends.local_port).bigEndian
            address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
            let near = socket(AF_INET, type, 0)
            let isConnected = withUnsafeBytes(of: &address) { bytes in
                connect(near, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            }
            try #require(isConnected)
            let far = accept(listener, nil, nil)
            close(listener)
            try #require(rocurl_find_ends(near, &ends))
            return ((near, far), ends.local_port, ends.remote_port)
        }

        private func withIdle(
            _ connection: (near: Int32, far: Int32)? = nil,
            _ body: ((near: Int32, far: Int32), UnsafeMutableRawPointer) throws -> Void
        ) throws {
            let idle = try connection ?? pair()
            let multi = try #require(curl_multi_init())
            #expect(sockets.opened(idle.near) && sockets.want(.input, of: idle.near))
            sockets.leftIdle(idle.near)
            try body(idle, multi)
            curl_multi_cleanup(multi)
            for descriptor in [idle.near, idle.far] { close(descriptor) }
        }

        private func hasEnded(_ descriptor: Int32) -> Bool {
            var byte: UInt8 = 0
            return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_PEEK)) == 0
        }

        @Test func `A number of which the end was not told is watched for whoever has it next`() throws {
            let first = try pair()
            #expect(sockets.want(.output, of: first.near))
            let second = try pair()
            try #require(dup2(second.near, first.near) == first.near)
            #expect(sockets.want(.input, of: first.near))
            #expect(write(second.far, "x", 1) == 1)
            #expect(sockets.wait(milliseconds: 60_000))
            for descriptor in [first.near, first.far, second.near, second.far] { close(descriptor) }
        }

        @Test func `A closed connection that somebody else still holds open is not watched`() throws {
            let sockets = try pair()
            let held = dup(sockets.near)
            #expect(self.sockets.opened(sockets.near))
            #expect(self.sockets.want(.input, of: sockets.near))
            self.sockets.closes(sockets.near)
            close(sockets.near)
            #expect(write(sockets.far, "x", 1) == 1)
            #expect(!self.sockets.wait(milliseconds: 0))
            for descriptor in [held, sockets.far] { close(descriptor) }
        }

        @Test func `That a descriptor was closed before libcurl lost its interest is no failure`() throws {
            let sockets = try pair()
            #expect(self.sockets.want(.input, of: sockets.near))
            close(sockets.near)
            #expect(self.sockets.want([], of: sockets.near))
            close(sockets.far)
        }

        private func pair() throws -> (near: Int32, far: Int32) {
            var descriptors: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &descriptors) == 0)
            return (descriptors[0], descriptors[1])
        }

        @Test func `A descriptor that cannot be watched is told of`() throws {
            // Regular files are always ready, which epoll refuses to say (epoll_ctl(2), EPERM).
            let file = open("/proc/self/exe", O_RDONLY)
            #expect(!sockets.want(.input, of: file))
            close(file)
        }
    }
#endif
