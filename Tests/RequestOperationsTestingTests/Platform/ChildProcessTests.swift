import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ChildProcessTests {
    /// What a line of the shell prints.
    private func output(
        of line: String, environment: [String: String] = [:], in folder: URL? = nil, input: FileHandle? = nil
    ) async throws -> String {
        let pipe = Pipe()
        let child = try ChildProcess(
            "sh", ["-c", line], environment: environment, in: folder, input: input, output: pipe.fileHandleForWriting)
        try pipe.fileHandleForWriting.close()
        #expect(await child.status == 0)
        return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test func `Its status is what it exits with`() async throws {
        #expect(try await ChildProcess("sh", ["-c", "exit 7"]).status == 7)
        #expect(try ChildProcess("sh", ["-c", "exit 8"]).waitUntilExit() == 8)
    }

    @Test func `A signal that ends it is its status`() async throws {
        let child = try ChildProcess("sleep", ["60"])
        child.send(SIGKILL)
        #expect(await child.status == -SIGKILL)
    }

    @Test func `A signal after its end goes nowhere`() async throws {
        let child = try ChildProcess("true", [])
        _ = await child.status
        child.send(SIGKILL)
        #expect(await child.status == 0)
    }

    @Test func `It reads its input and runs in its folder with its variables`() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("input".utf8))
        try pipe.fileHandleForWriting.close()
        let output = try await output(
            of: "cat; pwd; echo $NAME", environment: ["NAME": "value"], in: URL(fileURLWithPath: "/"),
            input: pipe.fileHandleForReading)
        #expect(output == "input/\nvalue\n")
    }

    @Test func `It has no descriptor of this process`() async throws {
        let pipe = Pipe()
        // Without O_CLOEXEC, as many libraries open theirs.
        let copies = (0..<50).map { _ in dup(pipe.fileHandleForReading.fileDescriptor) }
        defer { for copy in copies { close(copy) } }
        // The shell lists itself: its three, and the one that `ls` opens.
        #expect(try await output(of: "ls /proc/self/fd | wc -l").trimmingCharacters(in: .whitespacesAndNewlines) == "4")
    }

    @Test func `A program that does not exist is an error`() {
        let error = #expect(throws: ChildProcess.StartError.self) { try ChildProcess("/no/such/program", []) }
        #expect(error?.code == ENOENT)
    }
}
