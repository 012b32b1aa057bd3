import Foundation
import RequestOperations

/// Collects changes that arrive while a commit is under way, and commits them together.
///
/// The changes run in the order of their arrival, on one serial queue. If one of them fails, the transaction is rolled
/// back and runs again, with a savepoint for each change. So a change can run several times, and must have no effect
/// outside of the database that a rollback would have to undo.
final class GroupCommit: Sendable {
    /// A change that waits. Running it returns a closure that notifies its caller.
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

    /// How many changes wait for their commit.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Makes a change and returns when it is on disk.
    ///
    /// - Parameters:
    ///   - body: The change. It runs again if another change of its commit fails.
    ///   - afterEntry: Called once when the change has its place in the line, at once.
    ///   - afterCommit: Called once when the change is on disk, before this returns and before any later change.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result,
        afterEntry: () -> Void = {},
        afterCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let job = Job { connection in
                let result = try body(connection)
                return {
                    afterCommit()
                    continuation.resume(returning: result)
                }
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
            afterEntry()
            switch phase {
            case .idle: queue.async { self.commitNext() }
            case .committing: break
            case .closed: continuation.resume(throwing: OfflineQueueError(.closed))
            }
        }
    }

    /// Does something with the database between two commits. At most one commit goes before it.
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
                let last = state.withLock { state in
                    defer { state = State(phase: .closed) }
                    return state.waiting
                }
                for start in stride(from: 0, to: last.count, by: Self.largest) {
                    commit(Array(last[start...].prefix(Self.largest)))
                }
                database.close()
                continuation.resume()
            }
        }
    }

    /// Commits the waiting changes, as far as they fit. The rest comes after the work that the queue got meanwhile.
    private func commitNext() {
        let jobs = state.withLock { state in
            let jobs = Array(state.waiting.prefix(Self.largest))
            state.waiting.removeFirst(jobs.count)
            return jobs
        }
        commit(jobs)
        let isMore = state.withLock { state in
            if state.phase == .committing, state.waiting.isEmpty { state.phase = .idle }
            return state.phase == .committing
        }
        if isMore { queue.async { self.commitNext() } }
    }

    private func commit(_ jobs: [Job]) {
        guard !jobs.isEmpty else { return }
        do {
            let answers = try database.write { connection in try jobs.map { try $0.run(connection) } }
            for answer in answers { answer() }
        } catch let error as UnflushedCommit {
            // The changes are made. They must not be made again.
            for job in jobs { job.fail(error) }
        } catch {
            guard jobs.count > 1 else { return jobs[0].fail(error) }
            commitWithSavepoints(jobs)
        }
    }

    /// Commits a group of which at least one change fails. The others still share one commit.
    private func commitWithSavepoints(_ jobs: [Job]) {
        do {
            let results = try database.write { connection in
                try jobs.map { job in try connection.savepoint { try job.run(connection) } }
            }
            for (job, result) in zip(jobs, results) {
                switch result {
                case .success(let answer): answer()
                case .failure(let error): job.fail(error)
                }
            }
        } catch let error as UnflushedCommit {
            for job in jobs { job.fail(error) }
        } catch {
            // The commit itself failed, as on a full disk. A smaller one may fit.
            for job in jobs { commit([job]) }
        }
    }
}

extension SQLiteConnection {
    /// Makes a change within a transaction. If it fails, only this change is undone.
    ///
    /// - Throws: An error that has ended the whole transaction, or that means damage.
    fileprivate func savepoint<Value>(_ body: () throws -> Value) throws -> Result<Value, any Error> {
        try run("SAVEPOINT change")
        do {
            let value = try body()
            try run("RELEASE change")
            return .success(value)
        } catch {
            guard !isInAutocommit, !error.meansDamage else { throw error }
            try run("ROLLBACK TO change")
            try run("RELEASE change")
            return .failure(error)
        }
    }
}

extension OfflineQueueError {
    /// An error of the store as an ``OfflineQueueError``.
    init(wrapping error: any Error) {
        switch error {
        case let error as OfflineQueueError: self = error
        case let error as UnflushedCommit: self.init(.unflushed, underlying: error.underlying)
        case let error as SQLiteError where error.meansFullDisk: self.init(.diskFull, underlying: error)
        case let error as SQLiteError where error.meansBusy: self.init(.busy, underlying: error)
        case let error as FileError where error.meansFullDisk: self.init(.diskFull, underlying: error)
        default: self.init(.storeFailed, underlying: error)
        }
    }
}
