#if os(Linux)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// Other names for functions, because a type that has members with the same names cannot call them.
    private func openSocket(_ family: Int32, _ type: Int32, _ number: Int32) -> Int32 { socket(family, type, number) }
    private func sendBytes(_ socket: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        send(socket, bytes.baseAddress, bytes.count, 0)
    }

    /// A socket for rtnetlink. It closes when nothing holds it and its source has been cancelled.
    final class RouteSocket: RouteChannel {
        enum Outcome: Sendable {
            case messages([RouteMessage])
            case nothing
            /// There was more than fits, so something is missing.
            case lost
            case failed
        }

        let descriptor: Int32

        /// MSG_DONTWAIT
        private static let doesNotWait: Int32 = 0x40

        /// Opens a socket that accepts only messages of the kernel. Returns `nil` if the system does not allow it.
        ///
        /// - Parameter hearsOfChanges: Whether it receives changes of links, addresses and routes, or only answers.
        init?(hearsOfChanges: Bool) {
            // AF_NETLINK, SOCK_RAW and SOCK_CLOEXEC, NETLINK_ROUTE.
            descriptor = openSocket(16, 3 | 0o2_000_000, 0)
            guard descriptor >= 0 else { return nil }
            // struct sockaddr_nl: family, padding, port (the kernel chooses it) and the groups RTMGRP_LINK,
            // RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV6_IFADDR, RTMGRP_IPV6_ROUTE.
            let groups: UInt32 = hearsOfChanges ? 0x1 | 0x10 | 0x40 | 0x100 | 0x400 : 0
            let address: (UInt16, UInt16, UInt32, UInt32) = (16, 0, 0, groups)
            let isBound = withUnsafeBytes(of: address) { bytes in
                // The address has twelve bytes, so it has a base address.
                bind(descriptor, bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count)) == 0
            }
            // We wait at most one second for an answer.
            var limit = timeval(tv_sec: 1, tv_usec: 0)
            let isLimited =
                setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size)) == 0
            guard isBound, isLimited else { return nil }
        }

        deinit {
            if descriptor >= 0 { close(descriptor) }
        }

        func watch(on queue: DispatchQueue, _ handler: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            // Dispatch sources are thread-safe, although they are not marked so on Linux.
            nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            source.setEventHandler(handler: handler)
            // The handler holds the socket until the source has been cancelled.
            source.setCancelHandler { withExtendedLifetime(self) {} }
            source.activate()
            return { source.cancel() }
        }

        func send(_ message: [UInt8]) -> Bool {
            message.withUnsafeBytes { sendBytes(descriptor, $0) } == message.count
        }

        func receive(waiting: Bool) -> Outcome {
            // The kernel's datagrams are at most this large.
            withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 8) { buffer in
                var sender: (UInt16, UInt16, UInt32, UInt32) = (0, 0, 0, 0)
                let count = withUnsafeMutableBytes(of: &sender) { sender in
                    var size = socklen_t(sender.count)
                    // The address has twelve bytes, so it has a base address.
                    let address = sender.baseAddress!.assumingMemoryBound(to: sockaddr.self)
                    return recvfrom(
                        descriptor, buffer.baseAddress, buffer.count, waiting ? 0 : Self.doesNotWait, address, &size)
                }
                guard count <= 0 else {
                    // The kernel's port is 0. We ignore messages from other programs.
                    guard sender.2 == 0 else { return .messages([]) }
                    return .messages(RouteMessage.messages(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])))
                }
                return switch errno {
                case _ where count == 0: .failed
                case EAGAIN: waiting ? .failed : .nothing
                case EINTR: receive(waiting: waiting)
                case ENOBUFS: .lost
                default: .failed
                }
            }
        }
    }
#endif

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
