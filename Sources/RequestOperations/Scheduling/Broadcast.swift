/// A changing value that is sent to any number of streams.
///
/// Each value has a number. Threads that change the value may arrive here in another order. A value that is older than
/// the last one sent is dropped.
final class Broadcast<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var number: Int
        var lastStream = 0
        var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
        /// The values that have not been sent yet.
        var untold: [(Value, [AsyncStream<Value>.Continuation])] = []
        var isTelling = false

        /// Adds a value to send. Returns whether the caller must send it.
        mutating func add(_ value: Value, for continuations: [AsyncStream<Value>.Continuation]) -> Bool {
            untold.append((value, continuations))
            defer { isTelling = true }
            return !isTelling
        }

        mutating func next() -> (Value, [AsyncStream<Value>.Continuation])? {
            isTelling = !untold.isEmpty
            return untold.isEmpty ? nil : untold.removeFirst()
        }
    }

    private let state: Locked<State>

    init(_ value: Value, number: Int = 0) {
        state = Locked(State(value: value, number: number))
    }

    var value: Value { state.withLock { $0.value } }

    /// How many streams have a listener.
    var streamCount: Int { state.withLock { $0.continuations.count } }

    func send(_ value: Value, number: Int) {
        let isToTell = state.withLock { state in
            guard number > state.number else { return false }
            state.number = number
            state.value = value
            return state.add(value, for: Array(state.continuations.values))
        }
        if isToTell { tell() }
    }

    /// A stream of the present value and each change. Of values that were not read in time, only the last is kept.
    ///
    /// - Parameter onEnd: Called once, when nothing reads the stream any more.
    func stream(onEnd: @escaping @Sendable () -> Void = {}) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let (id, isToTell) = state.withLock { state in
            state.lastStream += 1
            state.continuations[state.lastStream] = continuation
            return (state.lastStream, state.add(state.value, for: [continuation]))
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: id) }
            onEnd()
        }
        if isToTell { tell() }
        return stream
    }

    private func tell() {
        while let (value, continuations) = state.withLock({ $0.next() }) {
            for continuation in continuations { continuation.yield(value) }
        }
    }
}
