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
        var line = TellingLine<(News, [AsyncStream<Value>.Continuation])>()
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
            guard number > state.number, !state.hasEnded else { return false }
            state.number = number
            state.value = value
            return state.line.add((.value(value), Array(state.continuations.values)))
        }
        if isToTell { tell() }
    }

    /// A stream of the present value and each change. If values are not read in time, only the last is kept.
    ///
    /// - Parameter onEnd: Called once, when nothing reads the stream any more.
    func stream(onEnd: @escaping @Sendable () -> Void = {}) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self, bufferingPolicy: .bufferingNewest(1))
        let (id, isToTell) = state.withLock { state in
            state.lastStream += 1
            let isToTell = state.line.add((.value(state.value), [continuation]))
            if state.hasEnded {
                _ = state.line.add((.end, [continuation]))
            } else {
                state.continuations[state.lastStream] = continuation
            }
            return (state.lastStream, isToTell)
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.continuations.removeValue(forKey: id) }
            onEnd()
        }
        if isToTell { tell() }
        return stream
    }

    /// Ends all streams after the last value. A later stream has only that value.
    func end() {
        let isToTell = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.hasEnded = true
            defer { state.continuations = [:] }
            return state.line.add((.end, Array(state.continuations.values)))
        }
        if isToTell { tell() }
    }

    private func tell() {
        while let (news, continuations) = state.withLock({ $0.line.next() }) {
            switch news {
            case .value(let value): for continuation in continuations { continuation.yield(value) }
            case .end: for continuation in continuations { continuation.finish() }
            }
        }
    }
}

/// A first-in, first-out line. Appending and taking cost constant time on average, regardless of its length.
struct Line<Element> {
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

/// News that is reported one at a time and in order, from any thread. A pure value.
///
/// One thread reports: it calls ``next()`` until there is nothing more. It also reports what other threads add
/// meanwhile.
struct TellingLine<News> {
    private var untold = Line<News>()
    private var isTelling = false

    /// Adds news. Returns whether the caller must report.
    mutating func add(_ news: News) -> Bool {
        untold.append(news)
        defer { isTelling = true }
        return !isTelling
    }

    /// The next news. If there are none, records that no thread reports any more.
    mutating func next() -> News? {
        isTelling = !untold.isEmpty
        return untold.popFirst()
    }
}
