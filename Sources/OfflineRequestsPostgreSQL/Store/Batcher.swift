#if PostgreSQL
    import RequestOperations

    /// Collects what arrives while a call is under way, for the next call. One call runs at a time.
    final class Batcher<Item: Sendable, Output: Sendable>: Sendable {
        private struct Entry: Sendable {
            let item: Item
            let answer: Answer<Output>
        }

        private enum State {
            case idle
            case calling(waiting: [Entry])
        }

        private let state = Locked(State.idle)
        private let largest: Int
        private let weight: @Sendable (Item) -> Int
        private let call: @Sendable ([Item]) async -> [Result<Output, any Error>]

        /// - Parameters:
        ///   - largest: The most items of one call. 512 by default.
        ///   - weight: How much an item needs of a call's 16 Mi. One that needs more has a call of its own. 0 by default.
        ///   - call: Makes one call. Returns a result for each item, in their order.
        init(
            largest: Int = 512, weight: @escaping @Sendable (Item) -> Int = { _ in 0 },
            call: @escaping @Sendable ([Item]) async -> [Result<Output, any Error>]
        ) {
            self.largest = largest
            self.weight = weight
            self.call = call
        }

        /// Makes a call, or takes part in the next one.
        ///
        /// - Parameters:
        ///   - item: What the call is about. Items keep the order of their arrival.
        ///   - isCancellable: Whether a caller that is cancelled leaves. The call is made in any case.
        ///   - afterEntry: Called once, when the item has its place.
        func run(_ item: Item, isCancellable: Bool, afterEntry: () -> Void = {}) async throws -> Output {
            let answer = Answer<Output>()
            let isFirst = state.withLock { state in
                switch state {
                case .idle:
                    state = .calling(waiting: [Entry(item: item, answer: answer)])
                    return true
                case .calling(var waiting):
                    // The array must have one owner, or it is copied.
                    state = .idle
                    waiting.append(Entry(item: item, answer: answer))
                    state = .calling(waiting: waiting)
                    return false
                }
            }
            afterEntry()
            if isFirst { Task.detached { await self.work() } }
            guard isCancellable else { return try await answer.value }
            return try await withTaskCancellationHandler {
                try await answer.value
            } onCancel: {
                answer.resume(with: .failure(CancellationError()))
            }
        }

        private func work() async {
            while let entries = next() {
                let results = await call(entries.map(\.item))
                for (entry, result) in zip(entries, results) { entry.answer.resume(with: result) }
            }
        }

        private func next() -> [Entry]? {
            state.withLock { state in
                guard case .calling(let waiting) = state, !waiting.isEmpty else {
                    state = .idle
                    return nil
                }
                var room = 16 << 20
                let taken = waiting.prefix(largest).prefix { entry in
                    room -= weight(entry.item)
                    return room >= 0
                }
                let count = max(taken.count, 1)
                state = .calling(waiting: Array(waiting.dropFirst(count)))
                return Array(waiting.prefix(count))
            }
        }
    }
#endif
