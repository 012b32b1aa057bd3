import Foundation

/// Programs of the system.
enum Tool {
    /// Where a program is.
    ///
    /// - Throws: A ``BenchmarkError`` that names the package of Debian and Ubuntu that has it.
    static func find(_ name: String, orInstall package: String) throws -> URL {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin:/sbin"
        let candidates = path.split(separator: ":").map { URL(fileURLWithPath: "\($0)/\(name)") }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw BenchmarkError("\(name) is missing; install it: apt-get install \(package)")
        }
        return found
    }

    /// Runs a program and returns what it wrote, to either output.
    static func output(_ program: URL, _ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: output, as: UTF8.self)
    }
}
