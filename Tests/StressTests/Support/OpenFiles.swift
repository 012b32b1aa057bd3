#if os(Linux)
    import Foundation
    import RequestOperationsTesting

    /// The descriptors of this process, told apart by what they are of: other tests have some as well.
    enum OpenFiles {
        /// How many sockets of these ports are still open after a minute, or 0 as soon as none is: a thread of a stopped server
        /// may not have closed its own yet, and another test may have been given the port meanwhile.
        static func socketsThatStay(ofPorts ports: Set<Int>) async throws -> Int {
            var count = 0
            _ = try await SocketTable.becomes(within: .seconds(60)) { entries in
                let own = sockets
                count = entries.count {
                    own.contains($0.inode) && (ports.contains($0.localPort) || ports.contains($0.remotePort))
                }
                return count == 0
            }
            return count
        }

        /// The inodes of the sockets.
        private static var sockets: Set<String> {
            Set(targets.compactMap { $0.hasPrefix("socket:[") ? String($0.dropFirst(8).dropLast()) : nil })
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
