public import Foundation

/// What the check of one expectation gets: the transport, a server of its own and a folder of its own.
public struct TransportTrial: Sendable {
    /// The transport under test.
    public let transport: any Transport

    /// A server on 127.0.0.1 that serves only this trial.
    ///
    /// It is stopped when the check has returned. That ends every transfer that still runs.
    public let server: LoopbackServer

    /// An empty folder. It is removed when the check has returned.
    public let folder: URL

    /// How long to wait for things that an idle machine does at once: a fifth of the time limit of the check.
    public let patience: Duration

    init(timeLimit: Duration, _ makeTransport: (LoopbackServer) -> any Transport) async throws {
        patience = timeLimit / 5
        server = try await LoopbackServer.start()
        transport = makeTransport(server)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("conformance-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func end() {
        server.stop()
        // A folder that cannot be removed does no harm, and the failure cannot be reported.
        try? FileManager.default.removeItem(at: folder)
    }
}

// Helpers of the built-in expectations.
extension TransportTrial {
    /// Limits that no healthy transfer on the loopback interface reaches.
    static let limits = {
        var limits = TransferLimits()
        limits.connect = .seconds(10)
        limits.idle = .seconds(20)
        return limits
    }()

    /// A file of the trial's folder.
    func file(_ name: String = "body") -> URL {
        folder.appendingPathComponent(name)
    }

    /// A request to the server of the trial.
    func request(
        _ path: String = "/", method: String = "GET", fields: [(name: String, value: String)] = [], body: Data? = nil
    ) -> URLRequest {
        var request = URLRequest(url: server.url(path))
        request.httpMethod = method
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        request.httpBody = body
        return request
    }

    /// Lets the transport carry out a task. The limits of the trial apply where the task sets none.
    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
    ) async throws -> TransportResponse {
        var task = task
        task.limits = task.limits.filled(from: TransportTrial.limits)
        return try await transport.perform(task, onHead: onHead)
    }

    /// Gets a path, with the body in memory.
    func get(_ path: String = "/") async throws -> TransportResponse {
        try await perform(.data(request(path)))
    }

    /// Sends a body to a path.
    func send(
        _ body: RequestBody, to path: String = "/", method: String = "POST",
        fields: [(name: String, value: String)] = []
    ) async throws -> TransportResponse {
        try await perform(.upload(request(path, method: method, fields: fields), from: body))
    }

    /// Returns the failure that a task ends with. Throws a sentence for a success or any other error.
    func failure(
        of task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
    ) async throws -> TransferFailure {
        do {
            let response = try await perform(task, onHead: onHead)
            throw ConformanceFailure(
                "The transfer succeeded with status \(response.head.status) and \(response.bodySize) bytes.")
        } catch let failure as TransferFailure {
            return failure
        } catch let failure as ConformanceFailure {
            throw failure
        } catch {
            throw ConformanceFailure("\(error) was thrown, which is no TransferFailure.")
        }
    }

    /// Expects that a task fails with a code in a phase, and returns the failure.
    @discardableResult
    func expectFailure(
        of task: TransportTask, _ code: RequestError.Code, in phases: TransferFailure.Phase...
    ) async throws -> TransferFailure {
        let failure = try await failure(of: task)
        let error = try unwrap(
            failure.error as? RequestError, "The cause is \(failure.error), which is no RequestError.")
        try expect("The code", error.code, is: code)
        try expect(phases.contains(failure.phase), "The phase is \(failure.phase), not \(phases[0]).")
        return failure
    }

    /// Lets the transport carry out a task on a new Task, for a trial that cancels it.
    func start(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void = { _ in }
    ) -> Task<TransportResponse, any Error> {
        Task { try await perform(task, onHead: onHead) }
    }
}

// What the server and the folder show after a transfer.
extension TransportTrial {
    /// Returns the connections that were made, when all have ended. Throws a sentence if that takes too long.
    @discardableResult
    func closedConnections() async throws -> [LoopbackServer.ConnectionRecord] {
        let count = server.connections.count
        guard count > 0 else { return [] }
        guard let closed = try? await server.connectionsClosed(atLeast: count, timeout: patience * 2) else {
            throw ConformanceFailure("The connection was still open \(patience * 2) later.")
        }
        return closed
    }

    /// Expects that no more than one connection was made.
    func expectOneConnection() throws {
        let count = server.connections.count
        try expect(count <= 1, "\(count) connections were made, not one.")
    }

    /// The names of the files in the folder, sorted.
    var fileNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }
}
