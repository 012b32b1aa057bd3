import RequestOperationsTesting
import Testing

/// A program that is not ours, run to its end without holding a thread.
enum Program {
    struct Failed: Error {
        let status: Int32
        let errors: String
    }

    /// Runs a program and returns what it printed.
    static func run(_ program: String, _ arguments: [String], input: Data = Data()) async throws -> Data {
        let paths = [TemporaryPath(), TemporaryPath(), TemporaryPath()]
        for (path, content) in zip(paths, [input, Data(), Data()]) { try content.write(to: path.url) }
        // It uses the libraries that it was made for, though the tests may run over another libcurl.
        let child = try ChildProcess(
            program, arguments, environment: ["no_proxy": "*", "LD_LIBRARY_PATH": ""],
            input: FileHandle(forReadingFrom: paths[0].url), output: FileHandle(forWritingTo: paths[1].url),
            errors: FileHandle(forWritingTo: paths[2].url))
        let status = await child.status
        guard status == 0 else {
            throw Failed(status: status, errors: String(decoding: try paths[2].content, as: UTF8.self))
        }
        return try paths[1].content
    }

    /// Runs a Python script, which reads its input and prints JSON.
    static func python<Value: Decodable>(
        _ script: PythonScript, input: Data, as type: Value.Type
    ) async throws -> Value {
        try JSONDecoder().decode(type, from: try await run("python3", [script.path], input: input))
    }
}
