import RequestOperations
import RequestOperationsTesting

/// A request that goes nowhere.
let anyRequest = URLRequest(url: URL(string: "http://example.invalid/path?secret=1")!)

extension RequestConfiguration {
    /// A configuration over a script.
    static func scripted(_ answers: [ScriptedTransport.Answer]) -> RequestConfiguration {
        over(ScriptedTransport(answers))
    }

    /// A configuration over a transport.
    static func over(_ transport: any Transport) -> RequestConfiguration {
        var configuration = RequestConfiguration()
        configuration.transport = transport
        return configuration
    }
}

/// Adds an operation to a queue of its own and awaits its value.
func run<Value>(_ operation: AsynchronousOperation<Value>) async throws -> Value {
    OperationQueue().addOperation(operation)
    return try await operation.value
}

/// Runs an operation and gives the error that it fails with.
func failure<Value>(of operation: AsynchronousOperation<Value>) async -> (any Error)? {
    do {
        _ = try await run(operation)
        return nil
    } catch {
        return error
    }
}

/// Values that closures on any thread collect.
final class Collector<Element: Sendable>: Sendable {
    private struct State {
        var elements: [Element] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Locked(State())

    var elements: [Element] { state.withLock { $0.elements } }

    func append(_ element: Element) {
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

/// A door that opens once.
final class Door: Sendable {
    private let opened = Collector<Void>()

    func open() {
        opened.append(())
    }

    func pass() async {
        await opened.count(1)
    }
}
