import Foundation

/// Many GETs by a program of the command line.
struct ToolOrder: Codable, Sendable {
    /// Which program.
    enum Program: String, Codable, CaseIterable {
        case curl
        case urlrequest
    }

    /// Which program.
    var program: Program
    /// The URL that is requested; each request has a query of its own.
    var page: String
    /// How many requests.
    var requests: Int
    /// How many at a time.
    var concurrency: Int
    /// Where the lines of the input are written.
    var folder: String

    /// The variable of the environment with the path of the tool.
    private static let variable = "URLREQUEST"

    /// Runs the program, and measures its time and its processor time, its start included.
    func carryOut() throws -> Sample {
        let (executable, arguments) = try command()
        let before = Usage(.children)
        let output = try Tool.output(executable, arguments)
        let after = Usage(.children)
        try check(output)
        var sample = Sample()
        sample.values[.rate] = Double(requests) / after.seconds(since: before)
        sample.values[.cpu] = after.cpuSeconds(since: before) / Double(requests) * 1e6
        sample.values[.peak] = after.peak
        return sample
    }

    private func command() throws -> (URL, [String]) {
        switch program {
        case .curl:
            let curl = try Tool.find("curl", orInstall: "curl")
            return (
                curl,
                [
                    "-Z", "--parallel-max", "\(concurrency)", "--no-progress-meter", "--fail", "-o", "/dev/null", "-w",
                    "%{http_code}\n", "\(page)?[1-\(requests)]",
                ]
            )
        case .urlrequest:
            let path = ProcessInfo.processInfo.environment[Self.variable] ?? ".build/release/urlrequest"
            let tool = URL(fileURLWithPath: path)
            guard FileManager.default.isExecutableFile(atPath: tool.path) else {
                throw BenchmarkError(
                    "\(path) is missing; build it: swift build -c release --traits CommandLineTool --product urlrequest, "
                        + "or set \(Self.variable)")
            }
            let input = URL(fileURLWithPath: folder).appendingPathComponent("lines")
            let lines = (1...requests).map { "\(page)?\($0)\n" }.joined()
            try Data(lines.utf8).write(to: input)
            return (tool, ["run", "--input", input.path, "--concurrency", "\(concurrency)", "--no-progress"])
        }
    }

    /// Both print a line that begins with the status for each request.
    private func check(_ output: String) throws {
        let successes = output.split(separator: "\n").count { $0.hasPrefix("200") }
        guard successes == requests else {
            throw BenchmarkError("\(successes) of \(requests) requests succeeded: \(output.suffix(200))")
        }
    }
}
