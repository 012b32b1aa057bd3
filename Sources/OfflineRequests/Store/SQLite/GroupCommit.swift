import Foundation
import RequestOperations

/// Collects changes that arrive while a commit is under way, and commits them together.
///
/// The changes run in the order of their arrival, on one serial queue. If one of them fails, all are rolled back, and
/// each runs again in a transaction of its own. So a change must have no effect outside of the database.
final class GroupCommit: Sendable {
    /// A change that waits. Running it returns what tells its caller.
    private struct Job: Sendable {
        let run: @Sendable (SQLiteConnection) throws -> @Sendable () -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private struct State {
        var phase = Phase.idle
        /// What arrived while a commit is under way. Empty unless one is.
        var waiting: [Job] = []
    }

    private enum Phase {
        case idle
        case committing
        case closed
    }

    private let state = Locked(State())
    private let database: SQLiteDatabase
    private let queue = DispatchQueue(label: "OfflineRequests.GroupCommit")

    /// The most changes of one commit. It bounds the memory of a commit.
    private static let largest = 512

    init(_ database: SQLiteDatabase) {
        self.database = database
    }

    /// Makes a change and returns when it is on disk.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job { connection in
                let result = try body(connection)
                return { continuation.resume(returning: result) }
            } fail: { error in
                continuation.resume(throwing: OfflineQueueError(wrapping: error))
            }
            let phase = state.withLock { state in
                let phase = state.phase
                guard phase != .closed else { return phase }
                state.waiting.append(job)
                state.phase = .committing
                return phase
            }
            switch phase {
            case .idle: queue.async { self.drain() }
            case .committing: break
            case .closed: continuation.resume(throwing: OfflineQueueError(.closed))
            }
        }
    }

    /// Does something with the database between two commits.
    func perform<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteDatabase) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                guard state.withLock({ $0.phase != .closed }) else {
                    return continuation.resume(throwing: OfflineQueueError(.closed))
                }
                do { continuation.resume(returning: try body(database)) } catch {
                    continuation.resume(throwing: OfflineQueueError(wrapping: error))
                }
            }
        }
    }

    /// Commits what is waiting, refuses later changes, and closes the database.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                drain()
                let late = state.withLock { state in
                    defer { state = State(phase: .closed) }
                    return state.waiting
                }
                for job in late { job.fail(OfflineQueueError(.closed)) }
                database.close()
                continuation.resume()
            }
        }
    }

    private func drain() {
        while let jobs = next() { commit(jobs) }
    }

    /// The next changes to commit; `nil` if there are none.
    private func next() -> [Job]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                if state.phase == .committing { state.phase = .idle }
                return nil
            }
            let jobs = Array(state.waiting.prefix(Self.largest))
            state.waiting.removeFirst(jobs.count)
            return jobs
        }
    }

    private func commit(_ jobs: [Job]) {
        do {
            let answers = try database.write { connection in try jobs.map { try $0.run(connection) } }
            for answer in answers { answer() }
        } catch {
            guard jobs.count > 1 else { return jobs[0].fail(error) }
            for job in jobs { commit([job]) }
        }
    }
}

extension OfflineQueueError {
    /// An error of the store as one of ours.
    init(wrapping error: any Error) {
        switch error {
        case let error as OfflineQueueError: self = error
        case let error as SQLiteError where error.meansFullDisk: self.init(.diskFull, underlying: error)
        case let error as SQLiteError where error.meansBusy: self.init(.busy, underlying: error)
        case let error as FileError where error.meansFullDisk: self.init(.diskFull, underlying: error)
        default: self.init(.storeFailed, underlying: error)
        }
    }
}
