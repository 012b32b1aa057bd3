import RequestOperationsTesting
import Testing

/// The built program, run as a process.
///
/// It lies beside the tests: SwiftPM builds the products that a test target depends on into one directory.
final class RunningTool: Sendable {
    /// What a program that has ended leaves.
    struct Ended {
        let output: String
        let errors: String
        let status: Int32

        var lines: [String] { output.split(separator: "\n").map(String.init) }

        /// The lines of standard output as JSON objects.
        var objects: [[String: Any]] {
            get throws {
                try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
            }
        }
    }

    /// What becomes of standard output.
    enum OutputUse {
        /// It is read as it comes.
        case toTheEnd
        /// It is closed when a line was read.
        case untilALine
        /// Nobody reads it.
        case never
    }

    private let process: ChildProcess
    private let input: FileHandle
    private let outputHandle: FileHandle
    private let output: CapturedOutput?
    private let errors: CapturedOutput

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - environment: Variables that it is given besides those of the tests.
    ///   - terminal: A descriptor for its standard error, such as a terminal; captured by default.
    ///   - use: What becomes of its standard output; read to its end by default.
    ///   - commands: What a shell does before it becomes the program; there is no shell by default.
    init(
        _ arguments: [String], environment: [String: String] = [:], errors terminal: FileHandle? = nil,
        reads use: OutputUse = .toTheEnd, after commands: String? = nil
    ) throws {
        let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("urlrequest")
        let (inputPipe, outputPipe, errorPipe) = (Pipe(), Pipe(), Pipe())
        let line = commands.map { ["/bin/sh", "-c", "\($0); exec \"$0\" \"$@\"", program.path] } ?? [program.path]
        process = try ChildProcess(
            line[0], line.dropFirst() + arguments, environment: environment, input: inputPipe.fileHandleForReading,
            output: outputPipe.fileHandleForWriting, errors: terminal ?? errorPipe.fileHandleForWriting)
        try inputPipe.fileHandleForReading.close()
        try outputPipe.fileHandleForWriting.close()
        try errorPipe.fileHandleForWriting.close()
        input = inputPipe.fileHandleForWriting
        outputHandle = outputPipe.fileHandleForReading
        output =
            switch use {
            case .toTheEnd: CapturedOutput(of: outputHandle)
            case .untilALine: CapturedOutput(of: outputHandle, closingAfterLine: true)
            case .never: nil
            }
        errors = CapturedOutput(of: errorPipe.fileHandleForReading)
    }

    /// The most memory that it has had in RAM so far, in bytes; `nil` where the system does not tell, and after its end.
    var peakMemory: Int? { ResidentMemory.peak(of: process.identifier) }

    /// Writes to its standard input.
    func write(_ text: String) throws {
        try input.write(contentsOf: Data(text.utf8))
    }

    /// Ends its standard input.
    func endInput() throws {
        try input.close()
    }

    /// Sends it a signal.
    func send(_ signal: Int32) {
        process.send(signal)
    }

    /// Waits until it has printed so many lines on standard output, and returns what it has printed.
    @discardableResult
    func output(lines count: Int) async -> String {
        await output?.text(lines: count) ?? ""
    }

    /// Waits until it has printed so many lines on standard error.
    func errors(lines count: Int) async -> String {
        await errors.text(lines: count)
    }

    /// Waits until it has ended; kills it when the test's time is over.
    ///
    /// - Parameter endsInput: Whether its standard input is ended first.
    func end(endingInput endsInput: Bool = true) async throws -> Ended {
        if endsInput { try? endInput() }
        let status = await withTaskCancellationHandler {
            await process.status
        } onCancel: {
            process.send(SIGKILL)
        }
        return Ended(output: await output?.whole ?? "", errors: await errors.whole, status: status)
    }

    /// Runs the program to its end with an input.
    static func run(_ arguments: String..., input: String = "") async throws -> Ended {
        try await run(arguments, input: input)
    }

    /// Runs the program to its end with an input.
    static func run(_ arguments: [String], input: String = "") async throws -> Ended {
        let tool = try RunningTool(arguments)
        if !input.isEmpty { try tool.write(input) }
        return try await tool.end()
    }
}
