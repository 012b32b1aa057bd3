import Foundation
import RequestOperations

/// The one shared object of a server: its state, protected by a lock.
///
/// The server, its accepting thread and the threads of its connections hold it. Continuations are resumed outside of
/// the lock.
final class ServerCore: Sendable {
    /// The longest request body that is kept, in bytes.
    let keptBodyLimit: Int
    private let state: Locked<ServerState>

    init(handler: ServerState.Handler?, keptBodyLimit: Int, logLimit: Int) {
        state = Locked(ServerState(handler: handler, logLimit: logLimit))
        self.keptBodyLimit = keptBodyLimit
    }

    /// A copy of the current state.
    var snapshot: ServerState {
        state.withLock { $0 }
    }

    /// Reads or changes the state. For changes that no one can be waiting for.
    func update<Result>(_ transition: (inout ServerState) -> Result) -> Result {
        state.withLock(transition)
    }

    /// Changes the state and resumes the waiters that it returns.
    func advance(_ transition: (inout ServerState) -> [ServerState.Waiter]) {
        for waiter in state.withLock(transition) { waiter.resume() }
    }

    /// Closes every connection. Only the first call has an effect.
    func stop() {
        let (sockets, reached, abandoned) = state.withLock { $0.stop(at: .now) }
        for socket in sockets { socket.shutDown() }
        for waiter in reached { waiter.resume() }
        for waiter in abandoned { waiter.resume(throwing: LoopbackServer.WaitError.serverStopped) }
    }

    /// Returns when `milestone` is reached. Throws if the server is stopped before, and on cancellation.
    func wait(for milestone: ServerState.Milestone) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                // The cancel flag is set before the handler below runs. So the code that takes the lock second sees
                // what the first did.
                let immediate = state.withLock { state -> Result<Void, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    return state.wait(for: milestone, as: id, waiter)
                }
                if let immediate { waiter.resume(with: immediate) }
            }
        } onCancel: {
            state.withLock { $0.cancelWait(id) }?.resume(throwing: CancellationError())
        }
    }
}
