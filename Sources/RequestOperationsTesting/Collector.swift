/// A list that closures on any thread append to. A test can wait for its count.
package final class Collector<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    package init() {}

    /// The elements, in the order in which they were added.
    package var elements: [Element] { state.withLock { $0.elements } }

    package var count: Int { state.withLock { $0.elements.count } }

    package func append(_ element: Element) {
        _ = count(appending: element)
    }

    /// Adds an element. Returns the new number of elements.
    package func count(appending element: Element) -> Int {
        let (count, reached) = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            defer { state.watchers.removeAll { $0.count <= count } }
            return (count, state.watchers.filter { $0.count <= count })
        }
        for watcher in reached { watcher.continuation.resume() }
        return count
    }

    /// Returns as soon as there are at least `count` elements.
    package func count(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                guard state.elements.count < count else { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
