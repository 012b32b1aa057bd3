/// A changing value that is sent to any number of streams.
///
/// Each value has a number. Threads that change the value may arrive here in the wrong order. A value that is older
/// than the last one sent is dropped.
final class Broadcast<Value: Sendable>: Sendable {
    private enum News {
        case value(Value)
        case end
    }

    private struct State {
        var value: Value
        var number: Int
        var lastStream = 0
        var continuations: [Int: AsyncStream<Value>.Continuation] = [:]
        var hasEnded = false
        var delivery = OrderedDelivery<(News, [AsyncStream<Value>.Continuation])>()
    }

    private let state: Locked<State>

    init(_ value: Value, number: Int = 0) {
        state = Locked(State(value: value, number: number))
    }

    var value: Value { state.withLock { $0.value } }

    /// How many streams have a listener.
    var streamCount: Int { state.withLock { $0.continuations.count } }

    func send(_ value: Value, number: Int) {
        let delivers = state.withLock { state in
            guard number > state.number, !state.hasEnded else { return false }
            state.number = number
            state.value = value
            return state.delivery.add((.value(value), Array(state.continuations.values)))
        }
        if delivers { deliver() }
    }

    /// A stream of the present value and each change. If values are not read in time, only the last is kept.
    ///
    /// - Parameter onEnd: Called once, when nothing reads the stream any more.
    func stream(onEnd: @escaping @Sendable () -> Void = {}) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let (id, delivers) = state.withLock { state in
            state.lastStream += 1
            let delivers = state.delivery.add((.value(state.value), [continuation]))
            if state.hasEnded {
                _ = state.delivery.add((.end, [continuation]))
            } else {
                state.continuations[state.lastStream] = continuation
            }
            return (state.lastStream, delivers)
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: id) }
            onEnd()
        }
        if delivers { deliver() }
        return stream
    }

    /// Ends all streams after the last value. A later stream has only that value.
    func end() {
        let delivers = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.hasEnded = true
            defer { state.continuations = [:] }
            return state.delivery.add((.end, Array(state.continuations.values)))
        }
        if delivers { deliver() }
    }

    private func deliver() {
        while let (news, continuations) = state.withLock({ $0.delivery.next() }) {
            switch news {
            case .value(let value): for continuation in continuations { continuation.yield(value) }
            case .end: for continuation in continuations { continuation.finish() }
            }
        }
    }
}

/// A first-in, first-out queue. Appending and taking cost constant time on average, regardless of its length.
struct Queue<Element> {
    /// The places before `start` are empty.
    private var slots: [Element?] = []
    private var start = 0

    var isEmpty: Bool { start == slots.count }

    var count: Int { slots.count - start }

    var first: Element? { isEmpty ? nil : slots[start] }

    var elements: [Element] { slots[start...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        slots.append(element)
    }

    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        slots = elements.filter { !isRemoved($0) }
        start = 0
    }

    @discardableResult
    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        defer {
            slots[start] = nil
            start += 1
            if 2 * start > slots.count {
                slots.removeFirst(start)
                start = 0
            }
        }
        return slots[start]
    }
}

/// News that is delivered to listeners one at a time and in order, from any thread. A pure value.
///
/// One thread delivers: it calls ``next()`` until there is nothing more. It also delivers what other threads add
/// meanwhile.
struct OrderedDelivery<News> {
    private var undelivered = Queue<News>()
    private var isDelivering = false

    /// Adds news. Returns whether the caller must deliver.
    mutating func add(_ news: News) -> Bool {
        undelivered.append(news)
        defer { isDelivering = true }
        return !isDelivering
    }

    /// The next news. If there are none, records that no thread delivers any more.
    mutating func next() -> News? {
        isDelivering = !undelivered.isEmpty
        return undelivered.popFirst()
    }
}
