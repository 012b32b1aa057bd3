import RequestOperations

/// The file descriptors of the process.
enum Descriptors {
    /// Sees to it that the standard descriptors are taken, before anything else is opened: a socket that got the number
    /// of a closed standard output would receive the results.
    ///
    /// - Returns: Whether standard output was open.
    static func secureStandardOnes() -> Bool {
        let isOutputOpen = fcntl(STDOUT_FILENO, F_GETFD) >= 0
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // Opens the lowest free number, which is this one. A closed input stays unreadable.
            _ = open("/dev/null", O_WRONLY)
        }
        return isOutputOpen
    }

    /// Raises the number of files and sockets that the process may have open as far as it may by itself. Where that fails
    /// the run goes on with what there is.
    static func raiseLimit() {
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return }
        limit.rlim_cur = raised(limit.rlim_cur, maximum: limit.rlim_max)
        setrlimit(files, &limit)
    }

    /// How many files and sockets the process may have open.
    static var limit: rlim_t {
        var limit = rlimit()
        return getrlimit(files, &limit) == 0 ? limit.rlim_cur : .max
    }

    /// How many attempts may be in flight under a limit of open files: one for each connection that fits beside what the
    /// tool itself keeps open.
    static func attempts(under limit: rlim_t) -> Int {
        max(1, Int(clamping: DescriptorShare(limit: Int64(clamping: limit)).bound) - kept)
    }

    /// More than the tool keeps open: the standard descriptors, input, report and directory, and what the threads of the
    /// transport and of Dispatch wait with.
    private static let kept = 18

    /// The limit to ask for: as high as allowed, but no more than any run needs, and never lower than it is.
    static func raised(_ current: rlim_t, maximum: rlim_t) -> rlim_t {
        max(current, min(maximum, 1 << 20))
    }

    #if canImport(Darwin)
        private static let files = RLIMIT_NOFILE
    #elseif canImport(Glibc)
        private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let files = Int32(RLIMIT_NOFILE)
    #endif
}
