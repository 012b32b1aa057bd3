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

/// Delivers news to one receiver, on a serial queue of its own. So a slow receiver delays nobody. Of more than 10,000 that wait,
/// new ones are dropped.
final class SerialDelivery<News: Sendable>: Sendable {
    private struct State {
        var waiting = Queue<(news: News, missed: Int)>()
        var isRunning = false
        /// How many were dropped since the last one that was kept.
        var missed = 0
    }

    private let receive: @Sendable (_ news: News, _ missed: Int) -> Void
    private let queue = DispatchQueue(label: "RequestOperations.SerialDelivery")
    private let state = Locked(State())

    /// - Parameter receive: Gets the news, and how many were dropped before it.
    init(_ receive: @escaping @Sendable (_ news: News, _ missed: Int) -> Void) {
        self.receive = receive
    }

    /// - Parameter always: Whether it is kept however many wait. `false` by default.
    func add(_ news: News, always: Bool = false) {
        state.withLock { state in
            guard always || state.waiting.count < 10_000 else {
                state.missed += 1
                return
            }
            state.waiting.append((news, state.missed))
            state.missed = 0
            guard !state.isRunning else { return }
            state.isRunning = true
            queue.async { self.deliver() }
        }
    }

    private func deliver() {
        while let next = state.withLock({ state in
            state.isRunning = !state.waiting.isEmpty
            return state.waiting.popFirst()
        }) { receive(next.news, next.missed) }
    }

    /// Returns when all that was added so far was received.
    func delivered() async {
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
    }
}
