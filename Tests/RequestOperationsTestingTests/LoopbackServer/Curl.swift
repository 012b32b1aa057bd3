import Foundation
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
        let status = try await start(arguments, files).status()
        return Curl(
            exitCode: ExitCode(rawValue: status), output: try Data(contentsOf: files[1]),
            errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }

    /// Runs curl on a URL.
    static func get(_ url: URL, _ options: String..., input: Data = Data()) async throws -> Curl {
        try await run(options + [url.absoluteString], input: input)
    }

    /// Starts curl and returns while it runs, its output dropped.
    static func start(_ arguments: [String]) throws -> RunningCurl {
        try start(arguments, [])
    }

    private static func start(_ arguments: [String], _ files: [URL]) throws -> RunningCurl {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["curl", "--disable", "--silent", "--show-error", "--noproxy", "*"] + arguments
        process.standardInput = try files.isEmpty ? FileHandle.nullDevice : FileHandle(forReadingFrom: files[0])
        process.standardOutput = try files.isEmpty ? FileHandle.nullDevice : FileHandle(forWritingTo: files[1])
        process.standardError = try files.isEmpty ? FileHandle.nullDevice : FileHandle(forWritingTo: files[2])
        return try RunningCurl(process)
    }
}

/// A curl that may still run.
struct RunningCurl: Sendable {
    private let identifier: Int32
    private let end: AsyncStream<Int32>

    init(_ process: Process) throws {
        let (end, report) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            report.yield($0.terminationStatus)
            report.finish()
        }
        try process.run()
        identifier = process.processIdentifier
        self.end = end
    }

    /// Ends it at once; the system then closes its connections.
    func kill() {
        Foundation.kill(identifier, SIGKILL)
    }

    /// Its exit status, once it has ended.
    func status() async -> Int32 {
        for await status in end { return status }
        return -1
    }
}
