import RequestOperationsTesting

/// Runs a tool of the toolchain and waits for its end without holding a thread.
enum Tool {
    struct Outcome {
        let status: Int32
        let output: String
    }

    static func run(_ arguments: [String], in folder: URL) async throws -> Outcome {
        let log = folder.appending(path: "\(UUID().uuidString).log")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        let handle = try FileHandle(forWritingTo: log)
        let status = try await ChildProcess(
            arguments[0], Array(arguments.dropFirst()), in: folder, output: handle, errors: handle
        ).status
        try handle.close()
        return Outcome(status: status, output: try String(contentsOf: log, encoding: .utf8))
    }

    /// Calls a function with an empty folder, which is removed afterwards.
    static func withFolder<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "DocumentationTests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let result = await Result { try await body(folder) }
        try FileManager.default.removeItem(at: folder)
        return try result.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
