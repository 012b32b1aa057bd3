#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A system call that failed.
struct SocketError: Error, CustomStringConvertible {
    let call: String
    let errno: Int32

    var description: String { "\(call): \(String(cString: strerror(errno)))" }
}
