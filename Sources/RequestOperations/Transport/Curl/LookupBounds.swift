#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Glibc

    /// How many look-ups of names a driver runs at a time.
    ///
    /// libcurl needs a thread and one or two descriptors for each look-up, and the system's resolver needs one more.
    /// The look-ups of one driver get a sixth of the process's descriptors, so that they use at most half of them. They
    /// get a quarter of its threads.
    struct LookupBounds: Equatable {
        /// The limit for look-ups that began within the last second, for names that were never resolved. At most 512.
        let young: Int
        /// The limit for all look-ups of names that were never resolved.
        let unresolved: Int
        /// The limit for all look-ups. The part beyond `unresolved` is for names that were resolved before.
        let all: Int

        init(young: Int, unresolved: Int, all: Int) {
            self.young = young
            self.unresolved = unresolved
            self.all = all
        }

        /// - Parameters:
        ///   - descriptors: How many descriptors the process may have.
        ///   - threads: How many threads it may have.
        init(descriptors: Int, threads: Int) {
            all = min(max(min(descriptors / 6, threads / 4), 4), 1024)
            unresolved = all - all / 4
            young = all / 2
        }

        /// The bounds that follow from the current limits of the process.
        static var ofProcess: LookupBounds {
            LookupBounds(
                descriptors: limit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue)),
                threads: min(limit(__rlimit_resource_t(__RLIMIT_NPROC.rawValue)), limitOfGroups))
        }

        private static func limit(_ resource: __rlimit_resource_t) -> Int {
            var limit = rlimit()
            // The call fails for no resource that exists.
            return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : .max
        }

        /// The lowest limit on tasks in the control groups that the process started in.
        private static let limitOfGroups: Int = {
            // A file that cannot be read sets no limit. A system may have no control groups, or may not show them.
            func read(_ path: String) -> String? { try? String(contentsOfFile: path, encoding: .utf8) }
            return read("/proc/self/cgroup").flatMap { leastLimit(ofGroups: $0, read: read) } ?? .max
        }()

        /// The lowest limit on tasks in some control groups and their parents; `nil` if there is none.
        ///
        /// - Parameters:
        ///   - groups: The content of `/proc/self/cgroup`: lines of a number, controllers and a path, separated by
        ///     colons.
        ///   - read: Reads a file, or returns `nil`.
        static func leastLimit(ofGroups groups: String, read: (String) -> String?) -> Int? {
            var least: Int?
            for line in groups.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
                guard parts.count == 3, let root = root(of: parts[1]) else { continue }
                // A container may see its own group as the root, even if its path is different outside.
                var path = parts[2].hasSuffix("/") ? parts[2].dropLast() : parts[2]
                while true {
                    let text = read("\(root)\(path)/pids.max")?.trimmingCharacters(in: .whitespacesAndNewlines)
                    // Without a limit, the file says "max".
                    if let limit = text.flatMap({ Int($0) }) { least = min(least ?? .max, limit) }
                    guard let end = path.lastIndex(of: "/") else { break }
                    path = path[..<end]
                }
            }
            return least
        }

        /// The folder of the groups of some controllers, if they limit tasks. Version 2 has all controllers in one
        /// folder.
        private static func root(of controllers: Substring) -> String? {
            if controllers.isEmpty { return "/sys/fs/cgroup" }
            return controllers.split(separator: ",").contains("pids") ? "/sys/fs/cgroup/pids" : nil
        }
    }
#endif
