import Foundation

/// The program curl. Its own seconds count, so that its start does not.
struct CurlMover: FileMover {
    private let curl: URL

    init() throws {
        curl = try Tool.find("curl", orInstall: "curl")
    }

    func download(_ page: String, to file: URL) throws -> Double? {
        try run(["-o", file.path, page])
    }

    func upload(_ file: URL, to page: String) throws -> Double? {
        try run(["-T", file.path, page])
    }

    private func run(_ arguments: [String]) throws -> Double {
        let output = try Tool.output(curl, ["-sS", "--fail", "-w", "%{time_total}"] + arguments)
        guard let seconds = Double(output) else { throw BenchmarkError("curl: \(output)") }
        return seconds
    }
}
