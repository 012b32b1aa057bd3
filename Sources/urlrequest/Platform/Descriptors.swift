import RequestOperations

/// The file descriptors of the process.
enum Descriptors {
    /// Makes sure that the standard descriptors are open before anything else is opened.
    ///
    /// If standard output were closed, a socket could get its number. The results would then go to that socket.
    ///
    /// - Returns: Whether standard output was open.
    static func secureStandardOnes() -> Bool {
        let isOutputOpen = fcntl(STDOUT_FILENO, F_GETFD) >= 0
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // This opens the lowest free number, which is this descriptor. A closed input stays unreadable.
            _ = open("/dev/null", O_WRONLY)
        }
        return isOutputOpen
    }

    /// Raises the limit of open files and sockets as far as the process itself may. If that fails, the run goes on with
    /// the old limit.
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

    /// How many attempts may be in flight under a limit of open files. Each needs one connection. The descriptors that
    /// the tool itself keeps open are subtracted.
    static func attempts(under limit: rlim_t) -> Int {
        max(1, Int(clamping: DescriptorShare(limit: Int64(clamping: limit)).bound) - kept)
    }

    /// A bound on the descriptors that the tool keeps open: the standard descriptors, input, report and directory. It
    /// includes the ones with which the threads of the transport and of Dispatch wait.
    private static let kept = 18

    /// The limit to ask for. It is as high as allowed, but no higher than any run needs, and never lower than the
    /// current one.
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
