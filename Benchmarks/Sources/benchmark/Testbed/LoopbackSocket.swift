import Foundation

/// A blocking TCP socket of the loopback interface. It is closed when the last reference goes, and only then, so that no
/// thread can touch a descriptor that somebody else has been given meanwhile.
final class LoopbackSocket: Sendable {
    private let descriptor: Int32

    private init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// A socket that has a port which nobody else has.
    static func bound() throws -> LoopbackSocket {
        let socket = try make()
        var address = address(0)
        try socket.check("bind", withSocketAddress(&address) { bind(socket.descriptor, $0, $1) })
        return socket
    }

    /// A socket that is connected to a port.
    static func connected(to port: Int) throws -> LoopbackSocket {
        let socket = try make()
        var address = address(port)
        try socket.check("connect", withSocketAddress(&address) { connect(socket.descriptor, $0, $1) })
        socket.sendAtOnce()
        return socket
    }

    /// Its port.
    func port() throws -> Int {
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = Self.withSocketAddress(&address) { pointer, _ in getsockname(descriptor, pointer, &length) }
        try check("getsockname", result)
        return Int(UInt16(bigEndian: address.sin_port))
    }

    // MARK: Connections

    /// Lets others connect to it.
    func listen() throws {
        try check("listen", Glibc.listen(descriptor, 1024))
    }

    /// The next connection; waits for it. `nil` when this socket has been shut down.
    func accept() -> LoopbackSocket? {
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            if accepted >= 0 {
                let socket = LoopbackSocket(owning: accepted)
                socket.sendAtOnce()
                return socket
            }
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Waits for bytes; returns how many came, none at the end of the connection, in whatever way it ended.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            guard errno == EINTR else { return 0 }
        }
    }

    /// Sends all of these bytes; false if the connection has ended.
    func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count > 0 { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count)) }
            guard count >= 0 || errno == EINTR else { return false }
        }
        return true
    }

    /// Turns Nagle's algorithm off.
    private func sendAtOnce() {
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    // MARK: Ends

    /// Ends the connection in order, or stops listening, and wakes whoever waits for this socket.
    func shutDown() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Resets the connection when nobody holds this socket any more, and wakes whoever waits for bytes.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        shutdown(descriptor, Int32(SHUT_RD))
    }

    // MARK: System

    private static func make() throws -> LoopbackSocket {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw failure("socket") }
        return LoopbackSocket(owning: descriptor)
    }

    private func check(_ call: String, _ result: Int32) throws {
        if result != 0 { throw Self.failure(call) }
    }

    private static func failure(_ call: String) -> BenchmarkError {
        BenchmarkError("\(call): \(String(cString: strerror(errno)))")
    }

    private static func address(_ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func withSocketAddress(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
