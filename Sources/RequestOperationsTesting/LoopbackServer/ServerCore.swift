import Foundation
import RequestOperations

/// The one shared object of a server: its state behind its lock. The server, its accepting thread and the threads of its
/// connections hold it; continuations are resumed outside of the lock.
final class ServerCore: Sendable {
    /// The longest request body that is kept.
    let keptBodyLimit: Int
    private let state: Locked<ServerState>

    init(handler: ServerState.Handler?, keptBodyLimit: Int, logLimit: Int) {
        state = Locked(ServerState(handler: handler, logLimit: logLimit))
        self.keptBodyLimit = keptBodyLimit
    }

    /// A copy of what is known now.
    var snapshot: ServerState {
        state.withLock { $0 }
    }

    /// Reads or changes the state where nobody can be waiting for the change.
    func update<Result>(_ transition: (inout ServerState) -> Result) -> Result {
        state.withLock(transition)
    }

    /// Changes the state and resumes those that waited for it.
    func advance(_ transition: (inout ServerState) -> [ServerState.Waiter]) {
        for waiter in state.withLock(transition) { waiter.resume() }
    }

    /// Closes every connection; the first call only.
    func stop() {
        let (sockets, reached, abandoned) = state.withLock { $0.stop(at: .now) }
        for socket in sockets { socket.shutDown() }
        for waiter in reached { waiter.resume() }
        for waiter in abandoned { waiter.resume(throwing: LoopbackServer.WaitError.serverStopped) }
    }

    /// Returns once `milestone` is reached; throws when the server is stopped before, and on cancellation.
    func wait(for milestone: ServerState.Milestone) async throws {
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                // The flag is set before the handler below runs: the second of them under the lock sees the first.
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
