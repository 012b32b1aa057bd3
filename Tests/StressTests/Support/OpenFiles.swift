#if os(Linux)
    import Foundation

    /// The descriptors of this process, told apart by what they are of: other tests have some as well.
    enum OpenFiles {
        /// How many sockets of these ports are still open after a minute, or 0 as soon as none is: a thread of a stopped server
        /// may not have closed its own yet, and another test may have been given the port meanwhile.
        static func socketsThatStay(ofPorts ports: Set<Int>) async throws -> Int {
            let end = ContinuousClock.now + .seconds(60)
            while true {
                let count = sockets(ofPorts: ports)
                if count == 0 || ContinuousClock.now >= end { return count }
                try await Task.sleep(for: .milliseconds(50))
            }
        }

        /// How many sockets are connected to one of these ports, or listen on it.
        private static func sockets(ofPorts ports: Set<Int>) -> Int {
            let own = Set(targets.compactMap { $0.hasPrefix("socket:[") ? String($0.dropFirst(8).dropLast()) : nil })
            let table = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
                .compactMap { try? String(contentsOfFile: $0, encoding: .ascii) }
                .flatMap { $0.split(separator: "\n").dropFirst() }
            return table.count { line in
                // The local address, the remote address and the inode (proc(5)).
                let columns = line.split(separator: " ")
                guard columns.count > 9, own.contains(String(columns[9])) else { return false }
                return columns[1...2].contains { address in
                    address.split(separator: ":").last.flatMap { Int($0, radix: 16) }.map(ports.contains) ?? false
                }
            }
        }

        /// How many files of a folder are open.
        static func files(in folder: URL) -> Int {
            targets.count { $0.hasPrefix(folder.path) }
        }

        /// All descriptors.
        static var count: Int { targets.count }

        private static var targets: [String] {
            let folder = "/proc/self/fd/"
            return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
                .compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0) }
        }
    }
#endif
