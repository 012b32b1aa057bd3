import OfflineRequests
import RequestOperationsTesting
import Testing

/// The program `OfflineProgram`, which adds requests to a queue and delivers them.
final class OfflineProcess: Sendable {
    let child: ChildProcess
    private let output: Task<[String], Never>

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the directory.
    ///   - prefix: A command before that of the program, such as one that limits it. None by default.
    ///   - lease: How long its lease lasts, in seconds; 4 by default.
    ///   - onLine: Called with each line of the output, as it comes.
    init(
        _ directory: URL, _ arguments: [String], prefix: [String] = [], lease: Int = 4,
        onLine: @escaping @Sendable (String, ChildProcess) -> Void = { _, _ in }
    ) throws {
        let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("OfflineProgram").path
        let command = prefix + [program, directory.path] + arguments
        let pipe = Pipe()
        let child = try ChildProcess(
            command[0], Array(command.dropFirst()), environment: ["OFFLINE_PROGRAM_LEASE": "\(lease)"],
            output: pipe.fileHandleForWriting,
            errors: FileHandle.standardError)
        try pipe.fileHandleForWriting.close()
        self.child = child
        let (lines, line) = AsyncStream<String>.makeStream()
        // A read blocks its thread until the program writes or ends.
        Thread {
            var rest = Data()
            while let piece = try? pipe.fileHandleForReading.read(upToCount: 4096), !piece.isEmpty {
                rest += piece
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    let text = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                    rest = Data(rest[(end + 1)...])
                    onLine(text, child)
                    line.yield(text)
                }
            }
            line.finish()
        }.start()
        output = Task {
            var all: [String] = []
            for await text in lines { all.append(text) }
            return all
        }
    }

    /// The whole output, when the program has ended.
    var lines: [String] {
        get async { await output.value }
    }

    /// The exit status, when the program has ended.
    var status: Int32 {
        get async { await child.status }
    }
}

/// A server that notes which requests arrive, with their keys, in order.
final class CountingServer: Sendable {
    struct Arrival: Sendable, Hashable {
        let name: String
        let key: String
    }

    private struct State {
        var arrivals: [Arrival] = []
        var onArrival: (@Sendable (Int) -> Void)?
    }

    private let state: Locked<State>
    private let server: LoopbackServer

    static func start() async throws -> CountingServer {
        let state = Locked(State())
        let server = try await LoopbackServer.start(logLimit: 0) { request in
            let arrival = Arrival(
                name: String(request.path.split(separator: "/").last ?? ""), key: request.field("Idempotency-Key") ?? ""
            )
            let (count, action) = state.withLock { state in
                state.arrivals.append(arrival)
                return (state.arrivals.count, state.onArrival)
            }
            action?(count)
            return .empty(204)
        }
        return CountingServer(state, server)
    }

    private init(_ state: Locked<State>, _ server: LoopbackServer) {
        self.state = state
        self.server = server
    }

    var url: URL { server.url }

    var arrivals: [Arrival] { state.withLock { $0.arrivals } }

    /// The arrivals that a server which honours the keys acts on: the first of each key.
    var effects: [Arrival] {
        var seen: Set<String> = []
        return arrivals.filter { seen.insert($0.key).inserted }
    }

    /// Calls an action at each arrival, with the number of all so far. The request is answered after it returns.
    func onArrival(_ action: (@Sendable (Int) -> Void)?) {
        state.withLock { $0.onArrival = action }
    }
}

/// How much the long tests do.
enum Extent {
    /// Whether `REQUEST_OPERATIONS_STRESS=full` asks for all of it.
    static let isFull = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"] == "full"
}
