#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import CRequestOperationsCurl
    import Foundation

    /// How many processors this process may use at once. Its affinity and the quota of its control group limit this
    /// (`cpu.max` in the kernel's cgroup-v2.rst). Foundation only knows version 1 of control groups.
    enum ProcessorShare {
        static let count = max(1, min(system, affinity ?? .max, quota ?? .max))

        private static var system: Int { ProcessInfo.processInfo.activeProcessorCount }

        private static var affinity: Int? {
            let count = Int(rocurl_usable_processors())
            return count > 0 ? count : nil
        }

        /// The smallest quota of the process's group and the groups around it.
        private static var quota: Int? {
            guard let groups = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8) else { return nil }
            return folders(of: groups)
                .compactMap { try? String(contentsOfFile: "/sys/fs/cgroup\($0)/cpu.max", encoding: .utf8) }
                .compactMap(wholeProcessors)
                .min()
        }

        /// The paths of the groups in `/proc/self/cgroup`, from the innermost one outwards.
        static func folders(of groups: String) -> [String] {
            guard let line = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return [] }
            let names = line.dropFirst("0::/".count).split(separator: "/")
            return (0...names.count).reversed().map { names.prefix($0).map { "/" + $0 }.joined() }
        }

        /// The whole processors that a `cpu.max` allows, rounded down. `nil` if it sets no limit.
        static func wholeProcessors(of limit: String) -> Int? {
            let numbers = limit.split(whereSeparator: \.isWhitespace).map { Int($0) }
            guard numbers.count == 2, let quota = numbers[0], let period = numbers[1], period > 0 else { return nil }
            return quota / period
        }
    }
#endif
