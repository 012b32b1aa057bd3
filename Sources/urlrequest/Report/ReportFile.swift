import RequestOperations

/// Where the report goes. A file is replaced as a whole. The report is appended to a device, a pipe or a path of the
/// system.
struct ReportFile: Sendable {
    private let url: URL
    private let isReplaced: Bool

    /// Checks that a report can be written, before the run.
    ///
    /// - Throws: ``UnusableInput``.
    init(_ path: String) throws {
        var status = stat()
        let exists = stat(path, &status) == 0
        guard !exists || status.st_mode & S_IFMT != S_IFDIR else {
            throw UnusableInput("\(path): \(errorText(EISDIR))")
        }
        let given = URL(fileURLWithPath: path)
        // We never replace a path of the system, such as /dev/stdout. It may lead to the file with the results.
        let isOfSystem = ["/dev/", "/proc/"].contains { given.standardizedFileURL.path.hasPrefix($0) }
        isReplaced = !isOfSystem && (!exists || status.st_mode & S_IFMT == S_IFREG)
        // A symbolic link is followed: its target is replaced, not the link.
        url = isReplaced ? given.resolvingSymlinksInPath() : given
        let written = isReplaced ? url.deletingLastPathComponent().path : path
        guard access(written, W_OK) == 0 else { throw UnusableInput("\(path): \(errorText(errno))") }
    }

    /// Writes the report.
    func write(_ data: Data) throws {
        if isReplaced {
            try data.write(to: url, options: .atomic)
        } else {
            let descriptor = open(url.path, O_WRONLY | O_APPEND | O_CLOEXEC)
            guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
        }
    }
}
