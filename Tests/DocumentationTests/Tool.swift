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

    /// The command that type-checks files against the modules of this build.
    static func compiler() throws -> [String] {
        let products = try Package.products()
        var arguments = ["swiftc", "-typecheck", "-parse-as-library", "-suppress-warnings", "-swift-version", "6"]
        #if PostgreSQL
            // Debian has libpq's header in a folder of its own.
            arguments += ["-D", "PostgreSQL", "-Xcc", "-I/usr/include/postgresql"]
        #endif
        arguments += ["-module-name", "Samples", "-I", products.appending(path: "Modules").path]
        arguments += [
            "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature", "MemberImportVisibility",
        ]
        // The modules import those of C targets, for themselves only; the compiler wants to see them all the same.
        for map in try moduleMaps(below: products) + moduleMaps(below: Package.root.appending(path: "Sources")) {
            arguments += ["-Xcc", "-fmodule-map-file=\(map.path)"]
        }
        return arguments
    }

    /// The module maps one folder below a folder.
    private static func moduleMaps(below folder: URL) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { $0.appending(path: "module.modulemap") }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
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
