import RequestOperations

/// The reports that a command was asked for, and the recorder that they are made from.
struct Reports: Sendable {
    private let files: [ReportFile]
    private let recorder = TimelineRecorder()

    /// Checks that reports can be written, before the run. No path is no report.
    ///
    /// - Throws: ``UnusableInput``.
    init(_ paths: [String]) throws {
        files = try paths.map(ReportFile.init)
    }

    /// No report.
    init() {
        files = []
    }

    /// Whether there is a report to write.
    var isWanted: Bool { !files.isEmpty }

    /// Has the requests of a configuration recorded, if there is a report.
    func record(_ configuration: inout RequestConfiguration) {
        if isWanted { configuration.record(in: recorder) }
    }

    /// Writes the reports, and says why one cannot be written. Returns whether all were written.
    ///
    /// - Parameter json: Makes a report in JSON. By default it has what was recorded.
    func write(
        json: (TimelineReport) throws -> Data = { try $0.encoded(as: .json) + Data("\n".utf8) },
        saying say: (String) -> Void
    ) -> Bool {
        guard isWanted else { return true }
        let report = recorder.report
        var isWhole = true
        for file in files {
            do {
                try file.write(file.format == .json ? json(report) : report.encoded(as: file.format))
            } catch {
                say("the report cannot be written: \(errorText(error))")
                isWhole = false
            }
        }
        return isWhole
    }
}

/// Where a report goes. A file is replaced as a whole. The report is appended to a device, a pipe or a path of the
/// system.
struct ReportFile: Sendable {
    /// The form that the suffix of the path asks for. JSON for any other suffix.
    let format: TimelineReport.Format
    private let url: URL
    private let isReplaced: Bool

    /// Checks that a report can be written, before the run.
    ///
    /// - Throws: ``UnusableInput``.
    init(_ path: String) throws {
        format = TimelineReport.Format(fileName: path) ?? .json
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

#if CommandLineTool
    import ArgumentParser

    /// The arguments for reports, which several commands share.
    struct ReportArguments: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                """
                Writes a report of the whole run at the end; can be given several times. The suffix says the form: .html is \
                a page for people, .har an HTTP archive, .trace.json a trace for Perfetto, and any other JSON.
                """, valueName: "file"))
        var report: [String] = []

        /// - Throws: ``UnusableInput``.
        func reports() throws -> Reports { try Reports(report) }
    }
#endif
