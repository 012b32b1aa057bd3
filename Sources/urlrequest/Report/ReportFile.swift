import RequestOperations

/// Where the report goes: a file that is replaced as a whole, or a device or pipe that is written to.
struct ReportFile: Sendable {
    private let url: URL
    private let isReplaced: Bool

    /// Checks that a report can be written, before the run.
    ///
    /// - Throws: ``UnusableInput``.
    init(_ path: String) throws {
        // A symbolic link is followed: the file that it leads to is replaced, not the link.
        url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        var status = stat()
        if stat(url.path, &status) == 0 {
            guard status.st_mode & S_IFMT != S_IFDIR else { throw UnusableInput("\(path): \(errorText(EISDIR))") }
            isReplaced = status.st_mode & S_IFMT == S_IFREG
        } else {
            isReplaced = true
        }
        let written = isReplaced ? url.deletingLastPathComponent().path : url.path
        guard access(written, W_OK) == 0 else { throw UnusableInput("\(path): \(errorText(errno))") }
    }

    /// Writes the report.
    func write(_ data: Data) throws {
        if isReplaced {
            try data.write(to: url, options: .atomic)
        } else {
            let handle = try FileHandle(forWritingTo: url)
            try handle.write(contentsOf: data)
        }
    }
}
