import RequestOperations

/// A network that breaks what is in flight when it goes away.
///
/// Every request reaches the server. The answer of one that is interrupted gets lost.
final class FlappingNetwork: Transport {
    /// What the server has got.
    struct Arrival: Hashable {
        let name: String
        let key: String?
    }

    private struct State {
        var arrivals: [Arrival] = []
        var interruptions: [String: Int] = [:]
        var inFlight: [Int: (name: String, continuation: CheckedContinuation<Bool, Never>)] = [:]
        var lastNumber = 0

        mutating func takeAll() -> [(name: String, continuation: CheckedContinuation<Bool, Never>)] {
            defer { inFlight = [:] }
            return Array(inFlight.values)
        }
    }

    private let state = Locked(State())

    var arrivals: [Arrival] { state.withLock { $0.arrivals } }

    /// How often the requests of each name were interrupted.
    var interruptions: [String: Int] { state.withLock { $0.interruptions } }

    /// The network goes away. Everything in flight is interrupted.
    func goAway() {
        let interrupted = state.withLock { state in
            let all = state.takeAll()
            for transfer in all { state.interruptions[transfer.name, default: 0] += 1 }
            return all
        }
        for transfer in interrupted { transfer.continuation.resume(returning: false) }
    }

    /// The server answers everything in flight.
    func answer() {
        for transfer in state.withLock({ $0.takeAll() }) { transfer.continuation.resume(returning: true) }
    }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let request = task.request
        let arrival = Arrival(
            name: request.url?.lastPathComponent ?? "", key: request.value(forHTTPHeaderField: "Idempotency-Key"))
        let isAnswered = await withCheckedContinuation { continuation in
            state.withLock { state in
                state.arrivals.append(arrival)
                state.lastNumber += 1
                state.inFlight[state.lastNumber] = (arrival.name, continuation)
            }
        }
        guard isAnswered else {
            throw TransferFailure(RequestError(.connectionLost, stage: .transfer), phase: .head)
        }
        let head = ResponseHead(status: 204, url: request.url!)
        try onHead(head)
        return TransportResponse(head: head, body: Data())
    }
}
