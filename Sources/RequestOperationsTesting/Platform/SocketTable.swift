#if os(Linux)
    import Foundation

    /// The TCP sockets of the system, as Linux lists them (proc(5)).
    package enum SocketTable {
        package struct Entry {
            package let localPort: Int
            package let remotePort: Int
            package let state: State?
            package let inode: String
        }

        /// The states that tests ask for, from the kernel's `enum` in `net/tcp_states.h`.
        package enum State: Int {
            case established = 1
            case connecting = 2
            case listening = 10
        }

        package static var now: [Entry] {
            ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
                .compactMap(text)
                .flatMap { $0.split(separator: "\n").dropFirst() }
                .compactMap(entry)
        }

        /// Reads a file of the kernel piece by piece. Foundation would take the first piece for the whole file.
        private static func text(_ path: String) -> String? {
            guard let file = FileHandle(forReadingAtPath: path) else { return nil }
            var text = Data()
            while case let piece = file.availableData, !piece.isEmpty { text += piece }
            return String(decoding: text, as: UTF8.self)
        }

        /// Parses a line. Columns two to four are the local address, the remote address and the state. Column ten is
        /// the inode.
        private static func entry(_ line: Substring) -> Entry? {
            let columns = line.split(separator: " ")
            guard columns.count > 9, let local = port(columns[1]), let remote = port(columns[2]) else { return nil }
            return Entry(
                localPort: local, remotePort: remote, state: Int(columns[3], radix: 16).flatMap(State.init),
                inode: String(columns[9]))
        }

        private static func port(_ address: Substring) -> Int? {
            address.split(separator: ":").last.flatMap { Int($0, radix: 16) }
        }
    }
#endif
