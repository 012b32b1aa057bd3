/// A transport that sends nothing and answers from a script.
///
/// ```swift
/// let transport = ScriptedTransport([.status(503), .error(.connectionLost), .body(Data("done".utf8))])
/// configuration.transport = transport
/// ```
///
/// There is no server to trust. A `TransportTask.trust` changes nothing here, but a test can see it in ``tasks``. To
/// simulate a rejected server, use an answer such as `.error(.pinningFailed, phase: .connect)`.
///
/// Each request takes the next answer of the script. The last answer is repeated. The transport keeps the contract of
/// `Transport`: a head comes before its body, a rejected response delivers nothing, and a cancel ends the transfer. A
/// response to HEAD and a response with status 204 or 304 have no body, even if the script gives one (RFC 9110, section
/// 6.4.1).
public final class ScriptedTransport: Transport {
    /// One answer of the script.
    public struct Answer: Sendable {
        fileprivate let respond:
            @Sendable (TransportTask, @Sendable (ResponseHead) throws -> Void) async throws -> TransportResponse
    }

    private struct State {
        var remaining: ArraySlice<Answer>
        var count = 0
        var requests: [URLRequest] = []
        var tasks: [TransportTask] = []
        var watchers = CountWatchers()
        /// The clock on which a stalling answer counts as a sleeper.
        var stallClock: ManualClock?
    }

    /// The stall clock of the transport that answers in the current Task.
    @TaskLocal static var currentStallClock: ManualClock?

    private let state: Locked<State>
    private let recordsRequests: Bool

    /// Makes a transport from its script.
    ///
    /// - Parameters:
    ///   - answers: The answers, in order. The last one is repeated. An empty list traps.
    ///   - recordsRequests: Whether ``requests`` and ``tasks`` are kept. `true` by default.
    public init(_ answers: [Answer], recordsRequests: Bool = true) {
        precondition(!answers.isEmpty, "A script needs an answer.")
        state = Locked(State(remaining: answers[...]))
        self.recordsRequests = recordsRequests
    }

    /// The requests in the order in which they arrived.
    public var requests: [URLRequest] { state.withLock { $0.requests } }

    /// The tasks in the order in which they arrived.
    public var tasks: [TransportTask] { state.withLock { $0.tasks } }

    /// Returns as soon as at least `count` requests have arrived, or when the waiting Task is cancelled.
    ///
    /// Every hop of every attempt counts, including those that have ended.
    public func requests(atLeast count: Int) async {
        let id = state.withLock { $0.watchers.newID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    state.count >= count || !state.watchers.add(continuation, as: id, waitingFor: count)
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.cancel(id) }?.resume()
        }
        _ = state.withLock { $0.watchers.forget(id) }
    }

    /// Answers with the next answer of the script.
    public func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try Task.checkCancellation()
        let (answer, watchers, clock) = state.withLock { state in
            if recordsRequests {
                state.requests.append(task.request)
                state.tasks.append(task)
            }
            state.count += 1
            let satisfied = state.watchers.take(reachedBy: state.count)
            // The script is never empty, since its last answer stays.
            let answer = state.remaining.first!
            if state.remaining.count > 1 { state.remaining.removeFirst() }
            return (answer, satisfied, state.stallClock)
        }
        for watcher in watchers { watcher.resume() }
        return try await Self.$currentStallClock.withValue(clock) { try await answer.respond(task, onHead) }
    }

    /// From now on a stalling answer counts as a sleeper on this clock.
    func stall(on clock: ManualClock) {
        state.withLock { $0.stallClock = clock }
    }
}

extension ScriptedTransport.Answer {
    /// A response with a status.
    ///
    /// - Parameters:
    ///   - status: The status of the response.
    ///   - fields: The fields of the response. None by default.
    ///   - body: The body of the response. Empty by default.
    public static func status(
        _ status: Int, fields: [(name: String, value: String)] = [], body: Data = Data()
    ) -> Self {
        Self { task, onHead in
            let url = try task.url
            let hasNoBody = [204, 304].contains(status) || task.request.httpMethod?.uppercased() == "HEAD"
            return try await deliver(
                hasNoBody ? Data() : body,
                under: ResponseHead(status: status, url: url, fields: fields, version: .http1_1), task, onHead)
        }
    }

    /// A response of status 200 with a body.
    public static func body(_ body: Data, fields: [(name: String, value: String)] = []) -> Self {
        status(200, fields: fields, body: body)
    }

    /// A failure of the network.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - phase: How far the transfer had come. By default `connect` for the codes where a transport has surely sent
    ///     nothing: those of the request itself, look-up, connection, proxy and TLS. For all other codes `head`.
    public static func error(_ code: RequestError.Code, phase: TransferFailure.Phase? = nil) -> Self {
        let connectCodes: Set<RequestError.Code> = [
            .badURL, .unsupportedScheme, .invalidField, .unsupported, .cannotResolveHost, .cannotConnect, .notConnected,
            .outOfLocalResources, .proxyFailed, .secureConnectionFailed, .untrustedCertificate, .pinningFailed,
            .clientCertificateRejected,
        ]
        return failure(
            TransferFailure(
                RequestError(code, stage: .transfer), phase: phase ?? (connectCodes.contains(code) ? .connect : .head)))
    }

    /// A failure with an error of your own.
    public static func failure(_ error: any Error) -> Self {
        Self { _, _ in throw error }
    }

    /// Gives no answer until the request is cancelled.
    public static let stall = Self { _, _ in
        try await neverUnlessCancelled()
    }

    /// Gives a head, then no body until the request is cancelled.
    public static func stallBody(status: Int = 200) -> Self {
        Self { task, onHead in
            let head = ResponseHead(status: status, url: try task.url, version: .http1_1)
            try accept(head, task, onHead)
            return try await neverUnlessCancelled()
        }
    }

    /// An answer that a closure makes from the request, at the moment when the request is sent.
    public static func dynamic(_ make: @escaping @Sendable (URLRequest) async throws -> Self) -> Self {
        Self { task, onHead in try await make(task.request).respond(task, onHead) }
    }

    /// An answer that comes after a delay on a clock.
    public static func delayed(_ delay: Duration, on clock: any Clock<Duration>, _ answer: Self) -> Self {
        Self { task, onHead in
            try await clock.sleep(for: delay)
            return try await answer.respond(task, onHead)
        }
    }

    private static func accept(
        _ head: ResponseHead, body: Data = Data(), _ task: TransportTask, _ onHead: (ResponseHead) throws -> Void
    ) throws {
        do { try onHead(head) } catch {
            throw TransferFailure(
                error, head: head, bodyPrefix: body.prefix(max(task.effectiveLimits.keptErrorBody, 0)),
                bodySize: Int64(body.count), phase: .body)
        }
    }

    private static func deliver(
        _ body: Data, under head: ResponseHead, _ task: TransportTask, _ onHead: (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        try accept(head, body: body, task, onHead)
        if let limit = task.effectiveLimits.maximumBodySize, body.count > limit {
            throw TransferFailure(RequestError(.bodyTooLarge, stage: .transfer), head: head, phase: .body)
        }
        try Task.checkCancellation()
        let size = Int64(body.count)
        task.onProgress?(TransferProgress(bytesReceived: size, bytesToReceive: size))
        do {
            return try await store(body, under: head, task.destination)
        } catch  where !Task.isCancelled {
            throw TransferFailure(error, head: head, phase: .body)
        }
    }

    private static func store(
        _ body: Data, under head: ResponseHead, _ destination: TransportTask.Destination
    ) async throws -> TransportResponse {
        let size = Int64(body.count)
        switch destination {
        case .memory:
            return TransportResponse(head: head, body: body)
        case .file(let file):
            do { try body.write(to: file) } catch {
                throw RequestError(.fileFailed, stage: .transfer, underlying: error)
            }
            return TransportResponse(head: head, file: file, bodySize: size)
        case .stream(let consumer):
            if !body.isEmpty { try await consumer(body) }
            return TransportResponse(head: head, bodySize: size)
        }
    }

    private static func neverUnlessCancelled() async throws -> TransportResponse {
        try await (ScriptedTransport.currentStallClock ?? ManualClock()).sleepForEver()
        preconditionFailure("A clock has come to the end of time.")
    }
}

extension TransportTask {
    fileprivate var url: URL {
        get throws {
            guard let url = request.url else {
                throw TransferFailure(RequestError(.badURL, stage: .transfer), phase: .connect)
            }
            return url
        }
    }
}
