#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A non-blocking stream socket that no child process inherits.
///
/// The descriptor is closed only when the last reference is released. So a thread that still holds the socket can never
/// touch a descriptor that the kernel has since given to another owner.
final class Socket: Sendable {
    /// The result of one system call.
    enum Outcome {
        case bytes(Int)
        case wouldBlock
        /// The peer has closed its side.
        case finished
        /// The connection was reset.
        case reset
    }

    /// The events that `wait` waits for, and the events that it found.
    struct Readiness: OptionSet {
        let rawValue: Int
        static let readable = Readiness(rawValue: 1)
        static let writable = Readiness(rawValue: 2)
        /// The peer has closed its side, or the connection is broken.
        static let hangUp = Readiness(rawValue: 4)
        /// The other socket given to `wait` became readable.
        static let alarm = Readiness(rawValue: 8)
    }

    enum LoopbackAddress {
        case ipv4
        case ipv6
    }

    private let descriptor: Int32

    private init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    // MARK: Making sockets

    /// A socket that listens on a loopback address. With port 0 the kernel chooses the port.
    ///
    /// `backlog` connections can wait to be accepted. The kernel does not answer further ones.
    static func listening(
        on address: LoopbackAddress, port: Int, backlog: Int32 = 4096
    ) throws(SocketError) -> Socket {
        let socket = try bound(to: address, port: port)
        guard listen(socket.descriptor, backlog) == 0 else { throw SocketError(call: "listen", errno: errno) }
        return socket
    }

    /// A socket that takes a port of a loopback address, but does not listen. With port 0 the kernel chooses the port.
    static func bound(to address: LoopbackAddress, port: Int) throws(SocketError) -> Socket {
        guard let port = in_port_t(exactly: port) else { throw SocketError(call: "bind", errno: EINVAL) }
        let family = address == .ipv4 ? AF_INET : AF_INET6
        let socket = Socket(owning: try makeStreamSocket(family))
        socket.set(SOL_SOCKET, SO_REUSEADDR, to: 1)
        let bound: Int32
        switch address {
        case .ipv4:
            var endpoint = sockaddr_in()
            endpoint.sin_family = sa_family_t(AF_INET)
            endpoint.sin_port = port.bigEndian
            endpoint.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
            bound = withSocketAddress(of: &endpoint) { bind(socket.descriptor, $0, $1) }
        case .ipv6:
            socket.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, to: 1)
            var endpoint = sockaddr_in6()
            endpoint.sin6_family = sa_family_t(AF_INET6)
            endpoint.sin6_port = port.bigEndian
            endpoint.sin6_addr = in6addr_loopback
            bound = withSocketAddress(of: &endpoint) { bind(socket.descriptor, $0, $1) }
        }
        guard bound == 0 else { throw SocketError(call: "bind", errno: errno) }
        return socket
    }

    /// A socket that has begun to connect to a port of 127.0.0.1. Nothing reports whether or when it is connected.
    static func connecting(toPort port: Int) throws(SocketError) -> Socket {
        let socket = Socket(owning: try makeStreamSocket(AF_INET))
        var endpoint = sockaddr_in()
        endpoint.sin_family = sa_family_t(AF_INET)
        endpoint.sin_port = in_port_t(port).bigEndian
        endpoint.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let begun = withSocketAddress(of: &endpoint) { connect(socket.descriptor, $0, $1) }
        guard begun == 0 || errno == EINPROGRESS else { throw SocketError(call: "connect", errno: errno) }
        return socket
    }

    /// Makes two connected sockets. Shutting one down wakes the thread that waits for the other.
    static func pair() throws(SocketError) -> (Socket, Socket) {
        var descriptors: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, streamType, 0, &descriptors) == 0 else {
            throw SocketError(call: "socketpair", errno: errno)
        }
        prepare(descriptors[0])
        prepare(descriptors[1])
        return (Socket(owning: descriptors[0]), Socket(owning: descriptors[1]))
    }

    /// The next connection that waits, with Nagle's algorithm off; nil if there is none.
    ///
    /// Throws if the socket no longer listens, or if the process or the system has no descriptor left.
    func accept() throws(SocketError) -> Socket? {
        #if canImport(Darwin)
            let accepted = Darwin.accept(descriptor, nil, nil)
        #elseif canImport(Glibc)
            let accepted = Glibc.accept(descriptor, nil, nil)
        #else
            let accepted = Musl.accept(descriptor, nil, nil)
        #endif
        guard accepted >= 0 else {
            switch errno {
            case EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED: return nil
            default: throw SocketError(call: "accept", errno: errno)
            }
        }
        Socket.prepare(accepted)
        let socket = Socket(owning: accepted)
        socket.set(Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
        return socket
    }

    /// The local port.
    var port: Int {
        var endpoint = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        _ = withSocketAddress(of: &endpoint) { address, _ in getsockname(descriptor, address, &length) }
        // The port has the same offset in the IPv4 and the IPv6 structure.
        return withUnsafeBytes(of: &endpoint) { Int(UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))) }
    }

    // MARK: Moving bytes

    /// Reads the bytes that are there, without waiting.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Outcome {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .finished }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            default: return .reset
            }
        }
    }

    /// Writes as many bytes as fit, without waiting. It never raises SIGPIPE.
    func send(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        while true {
            #if canImport(Darwin)
                let count = Darwin.send(descriptor, bytes.baseAddress, bytes.count, 0)
            #elseif canImport(Glibc)
                let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            #else
                let count = Musl.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            #endif
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return .wouldBlock
            // The peer closed its side before it refused more bytes. A reset without a close gives ECONNRESET.
            case EPIPE: return .finished
            default: return .reset
            }
        }
    }

    /// Waits until this socket is ready for the requested events, `alarm` is readable, or the time is over (the empty
    /// set).
    ///
    /// If the connection is broken in both directions, a hang-up is reported even if it was not requested.
    func wait(for interest: Readiness, alarm: Socket? = nil, milliseconds: Int32) -> Readiness {
        var events: Int32 = 0
        if interest.contains(.readable) { events |= Int32(POLLIN) }
        if interest.contains(.writable) { events |= Int32(POLLOUT) }
        if interest.contains(.hangUp) { events |= Socket.peerClosed }
        var entries = [pollfd(fd: descriptor, events: Int16(events), revents: 0)]
        if let alarm { entries.append(pollfd(fd: alarm.descriptor, events: Int16(POLLIN), revents: 0)) }
        guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return [] }

        let found = Int32(entries[0].revents)
        var readiness: Readiness = []
        if found & Int32(POLLIN) != 0 { readiness.insert(.readable) }
        if found & Int32(POLLOUT) != 0 { readiness.insert(.writable) }
        if found & (Int32(POLLERR) | Int32(POLLHUP) | Socket.peerClosed) != 0 { readiness.insert(.hangUp) }
        if entries.count > 1, entries[1].revents != 0 { readiness.insert(.alarm) }
        return readiness
    }

    /// Waits, without a time limit, until one of the sockets is readable or broken.
    static func waitForAny(of sockets: [Socket]) {
        var entries = sockets.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        poll(&entries, nfds_t(entries.count), -1)
    }

    /// Whether the connection was reset. A hang-up alone does not show that.
    var wasReset: Bool {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        return error == ECONNRESET
    }

    /// The number of bytes that were sent but that the peer's system has not yet acknowledged.
    var unacknowledgedByteCount: Int {
        var count: Int32 = 0
        #if canImport(Darwin)
            var length = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_NWRITE, &count, &length)
        #else
            _ = ioctl(descriptor, UInt(TIOCOUTQ), &count)
        #endif
        return Int(count)
    }

    // MARK: Ending

    /// Ends this side. The peer can still read all that was sent, and this side can still read.
    func finishSending() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Ends both sides, or stops listening, and wakes every thread that waits on this socket.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Makes the closing of this socket a reset (RST) instead of an orderly end.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    // MARK: Platform

    #if canImport(Darwin)
        private static let peerClosed: Int32 = 0
        private static let streamType = SOCK_STREAM
    #else
        // POLLRDHUP. The C library shows it only to programs that ask for all of its extensions.
        private static let peerClosed: Int32 = 0x2000
        #if canImport(Glibc)
            private static let streamType = Int32(SOCK_STREAM.rawValue)
        #else
            private static let streamType = SOCK_STREAM
        #endif
    #endif

    private static func makeStreamSocket(_ family: Int32) throws(SocketError) -> Int32 {
        let made = socket(family, streamType, 0)
        guard made >= 0 else { throw SocketError(call: "socket", errno: errno) }
        prepare(made)
        return made
    }

    /// Sets the flags of a new socket, in two calls after it was made.
    ///
    /// A child that starts in between inherits the socket, unless Foundation starts it. Foundation closes descriptors
    /// that are not its own.
    private static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    private func set(_ level: Int32, _ option: Int32, to value: Int32) {
        var value = value
        setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
}

private func withSocketAddress<Endpoint, Result>(
    of endpoint: inout Endpoint, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
) -> Result {
    withUnsafeMutablePointer(to: &endpoint) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<Endpoint>.size))
        }
    }
}
