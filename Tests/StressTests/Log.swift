import RequestOperations

/// What happened, in order, from any thread.
final class Log: Sendable {
    private struct State {
        var elements: [String] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var elements: [String] { state.withLock { $0.elements } }

    func append(_ element: String) {
        let watchers = state.withLock { state in
            state.elements.append(element)
            let count = state.elements.count
            defer { state.watchers.removeAll { $0.count <= count } }
            return state.watchers.filter { $0.count <= count }
        }
        for watcher in watchers { watcher.continuation.resume() }
    }

    /// Returns as soon as there are so many elements.
    func count(_ count: Int) async {
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

/// A number that only grows.
final class Counter: Sendable {
    private let log = Log()

    var value: Int { log.elements.count }

    func increment() {
        log.append("")
    }

    func reaches(_ value: Int) async {
        await log.count(value)
    }
}

extension RequestConfiguration {
    static func over(_ transport: any Transport) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        return configuration
    }
}

extension AsynchronousOperation {
    func runOnAQueue() async throws -> Success {
        OperationQueue().addOperation(self)
        return try await value
    }
}

extension Result where Failure == any Error {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
