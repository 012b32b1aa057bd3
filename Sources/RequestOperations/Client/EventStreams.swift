/// The streams of all steps of a client's requests.
final class EventStreams: Sendable {
    private struct State {
        var continuations: [Int: AsyncStream<RequestEvent>.Continuation] = [:]
        var last = 0
    }

    private let state = Locked(State())

    deinit {
        for continuation in state.withLock({ $0.continuations.values }) { continuation.finish() }
    }

    func stream() -> AsyncStream<RequestEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RequestEvent.self, bufferingPolicy: .bufferingNewest(1024))
        let number = state.withLock { state in
            state.last += 1
            state.continuations[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: number) }
        }
        return stream
    }

    func tell(_ event: RequestEvent) {
        for continuation in state.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
    }
}
