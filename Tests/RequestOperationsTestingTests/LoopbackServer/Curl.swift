import RequestOperationsTesting
import Testing

/// The `curl` command line: a client that is not ours.
struct Curl {
    /// The exit code, with names for those that the tests expect (curl's manual, "Exit codes").
    struct ExitCode: RawRepresentable, Equatable {
        let rawValue: Int32
        static let success = ExitCode(rawValue: 0)
        /// The reply looked like no HTTP/1 at all, so curl took it for HTTP/0.9, which it refuses.
        static let unsupportedProtocol = ExitCode(rawValue: 1)
        static let couldNotConnect = ExitCode(rawValue: 7)
        static let partialFile = ExitCode(rawValue: 18)
        static let httpError = ExitCode(rawValue: 22)
        static let timedOut = ExitCode(rawValue: 28)
        static let tooManyRedirects = ExitCode(rawValue: 47)
        static let emptyReply = ExitCode(rawValue: 52)
        static let receiveError = ExitCode(rawValue: 56)
    }

    let exitCode: ExitCode
    let output: Data
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }

    /// Runs curl to its end without blocking a thread of the cooperative pool. Of its configuration only `arguments` holds.
    static func run(_ arguments: [String], input: Data = Data()) async throws -> Curl {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try ["in", "out", "errors"].map { name in
            let file = folder.appendingPathComponent(name)
            try (name == "in" ? input : Data()).write(to: file)
            return file
        }
        let status = try await start(arguments, files).status
        return Curl(
            exitCode: ExitCode(rawValue: status), output: try Data(contentsOf: files[1]),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }

    /// Runs curl on a URL.
    static func get(_ url: URL, _ options: String..., input: Data = Data()) async throws -> Curl {
        try await run(options + [url.absoluteString], input: input)
    }

    /// Starts curl and returns while it runs, its output dropped.
    static func start(_ arguments: [String]) throws -> ChildProcess {
        try start(arguments, [])
    }

    private static func start(_ arguments: [String], _ files: [URL]) throws -> ChildProcess {
        try ChildProcess(
            "curl", ["--disable", "--silent", "--show-error", "--noproxy", "*"] + arguments,
            input: files.isEmpty ? nil : FileHandle(forReadingFrom: files[0]),
            output: files.isEmpty ? nil : FileHandle(forWritingTo: files[1]),
            errors: files.isEmpty ? nil : FileHandle(forWritingTo: files[2]))
    }
}
