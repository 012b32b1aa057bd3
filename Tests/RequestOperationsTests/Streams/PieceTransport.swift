import RequestOperations
import RequestOperationsTesting

/// A transport that delivers each response in pieces, and waits for the consumer after each.
final class PieceTransport: Transport {
    struct Answer: Sendable {
        enum End: Sendable {
            case complete
            /// The connection is lost.
            case lost
            /// Nothing follows until the Task is cancelled.
            case stall
        }

        var status = 200
        var fields: [(name: String, value: String)] = []
        var pieces: [String] = []
        var end = End.complete

        /// A stream of events.
        static func events(_ pieces: String..., end: End = .complete) -> Self {
            Self(fields: [("Content-Type", "text/event-stream")], pieces: pieces, end: end)
        }

        /// No connection is made.
        static let refused = Self(status: 0)
    }

    private struct State {
        var answers: [Answer]
        var requests: [URLRequest] = []
        var taken = 0
    }

    private let state: Locked<State>

    /// - Parameter answers: The responses in turn. A request after the last one fails for good.
    init(_ answers: [Answer]) {
        state = Locked(State(answers: answers))
    }

    var requests: [URLRequest] { state.withLock { $0.requests } }

    /// How many pieces the consumers have taken.
    var taken: Int { state.withLock { $0.taken } }

    /// The values of a field of the requests in turn.
    func values(of field: String) -> [String?] { requests.map { $0.value(forHTTPHeaderField: field) } }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let next = state.withLock { state in
            state.requests.append(task.request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer = next else {
            throw TransferFailure(RequestError(.unsupported, stage: .transfer), phase: .connect)
        }
        guard answer.status > 0 else {
            throw TransferFailure(RequestError(.cannotConnect, stage: .transfer), phase: .connect)
        }
        // The operation does not send a request without a URL.
        let head = ResponseHead(
            status: answer.status, url: task.request.url!, fields: answer.fields, version: .http1_1)
        do {
            try onHead(head)
            try await deliver(answer, to: task)
            return TransportResponse(head: head, bodySize: Int64(answer.pieces.joined().utf8.count))
        } catch {
            throw TransferFailure(error, head: head, phase: .body)
        }
    }

    private func deliver(_ answer: Answer, to task: TransportTask) async throws {
        guard case .stream(let consumer) = task.destination else { return }
        for piece in answer.pieces {
            try await consumer(Data(piece.utf8))
            state.withLock { $0.taken += 1 }
        }
        switch answer.end {
        case .complete: break
        case .lost: throw RequestError(.connectionLost, stage: .transfer)
        case .stall:
            await blockedUntilCancelled()
            throw CancellationError()
        }
    }
}

extension RequestConfiguration {
    /// A configuration over answers in pieces, that retries at once.
    static func streaming(_ answers: PieceTransport.Answer..., retries: Int = 3) -> RequestConfiguration {
        downloading(over: PieceTransport(answers), retries: retries)
    }
}
