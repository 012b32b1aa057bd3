package import Foundation
import RequestOperations

/// A store in one SQLite database in a directory of this machine.
package final class SQLiteStore: OfflineStore {
    let files: QueueFiles
    let writer: GroupCommit
    let reader: SQLiteReader
    /// Checks a large database beside the work.
    private let checker: SQLiteDatabase
    /// Distinguishes this store from others that have the same database open, in this process or another one.
    let owner = UUID().uuidString
    /// The lock that lasts as long as this store has the lease. The system frees it when the process ends.
    let ownerLock: OwnerLock
    /// Whether the last change that could take or free the lease left it here.
    private let hasLease = Locked(false)
    /// What is known of the lease of another owner.
    let rival = Locked(RivalWatch())
    /// Where the last search by origins ended.
    let lastOrigin = Locked("")

    /// How long outcomes are kept.
    let outcomeRetention: Duration
    /// How long a lane may fail before it is paused; `nil` if lanes are not watched.
    let lanePatience: Duration?
    /// The time of the calendar.
    let date: @Sendable () -> Date
    /// A time that only rises, for the age of another owner's last beat.
    let elapsed: @Sendable () -> Duration

    package var isShared: Bool { false }
    package var changes: AsyncStream<Void> { AsyncStream { $0.finish() } }

    private init(
        _ files: QueueFiles, outcomeRetention: Duration, lanePatience: Duration?,
        date: @escaping @Sendable () -> Date, elapsed: @escaping @Sendable () -> Duration,
        onRecovery: @escaping @Sendable (OfflineRecovery) -> Void, flush: @escaping @Sendable (Int32) -> Bool
    ) throws {
        self.files = files
        (self.outcomeRetention, self.lanePatience) = (outcomeRetention, lanePatience)
        (self.date, self.elapsed) = (date, elapsed)
        writer = GroupCommit(try SQLiteDatabase(files: files, date: date, onRecovery: onRecovery, flush: flush))
        reader = SQLiteReader(try SQLiteDatabase(files: files, isReader: true, date: date))
        checker = try SQLiteDatabase(files: files, isReader: true, date: date)
        ownerLock = OwnerLock(of: owner, in: files)
    }

    /// Opens a store, and makes its files if there are none.
    ///
    /// A database of up to 32 MiB is checked before this returns. A larger one is checked in the background.
    ///
    /// - Parameters:
    ///   - name: The name of the queue.
    ///   - directory: The directory of its files.
    ///   - outcomeRetention: How long outcomes are kept. 30 days by default.
    ///   - lanePatience: How long a lane may fail before it is paused. `nil` by default: lanes are not watched.
    ///   - date: The time of the calendar.
    ///   - clock: The clock of the silence of other owners. The continuous clock by default.
    ///   - onRecovery: Called when a damage was found and repaired, here or later.
    ///   - onFailure: Called if a large database could not be checked or repaired in the background.
    ///   - flush: Flushes the commits in the file of a descriptor to the disk.
    package static func open(
        name: String, directory: URL, outcomeRetention: Duration = .seconds(30 * 86_400),
        lanePatience: Duration? = nil, date: @escaping @Sendable () -> Date,
        clock: any Clock<Duration> = ContinuousClock(),
        onRecovery: @escaping @Sendable (OfflineRecovery) -> Void,
        onFailure: @escaping @Sendable (OfflineQueueError) -> Void = { _ in },
        flush: @escaping @Sendable (Int32) -> Bool = DiskFlush.flush
    ) async throws -> SQLiteStore {
        do {
            let files = try QueueFiles(name: name, directory: directory)
            let elapsed = WaitClock.elapsed(on: clock)
            let (store, old) = try await BlockingWork.run {
                try files.makeFolders()
                try OwnerLock.removeRemains(in: files)
                let store = try SQLiteStore(
                    files, outcomeRetention: outcomeRetention, lanePatience: lanePatience, date: date,
                    elapsed: elapsed, onRecovery: onRecovery, flush: flush)
                return (store, try BodyFiles.old(in: files.bodies))
            }
            // The first transaction opens the database.
            let size = try await store.writer.perform { database in
                try database.write { _ in files.databaseSize }
            }
            try await store.removeOrphans(of: old)
            if size > SQLiteDatabase.checkedSize { store.checkBesideTheWork(onFailure) }
            return store
        } catch {
            throw OfflineQueueError(wrapping: error)
        }
    }

    /// Removes the files of bodies that no record has.
    private func removeOrphans(of names: [String]) async throws {
        for start in stride(from: 0, to: names.count, by: 500) {
            let part = names[start...].prefix(500)
            let unused = try await read { connection in
                try part.filter { name in
                    try connection.first(
                        "SELECT 1 FROM records WHERE file = ?", .text(name), row: { $0.integer(0) }) == nil
                }
            }
            let bodies = files.bodies
            try await BlockingWork.run {
                for name in unused { try BodyFiles.remove(bodies.appendingPathComponent(name)) }
            }
        }
    }

    /// Checks a large database. The check reads the whole file, so it must not run on a thread of Swift's Tasks.
    private func checkBesideTheWork(_ onFailure: @escaping @Sendable (OfflineQueueError) -> Void) {
        DispatchQueue.global(qos: .background).async { [self] in
            defer { checker.close() }
            do { try checker.check() } catch let error where error.meansDamage {
                Task {
                    do { try await writer.perform { try $0.repair() } } catch {
                        onFailure(OfflineQueueError(wrapping: error))
                    }
                }
            } catch let error where error.meansInterruption {
                // The store was closed. The next opening checks again.
            } catch {
                onFailure(OfflineQueueError(wrapping: error))
            }
        }
    }

    /// Makes a change. A reader that found damage comes here too, since only the writer recovers.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write(body)
    }

    /// Makes a change that can take or free the lease. Once it is on disk, the lock follows.
    ///
    /// The lock is taken within the transaction: a lock without the lease does no harm if the change is rolled back.
    /// It is freed after the commit, since a lease without the lock would count as that of a dead owner.
    func writeLease<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write { [self] connection in
            let result = try body(connection)
            let holder = try connection.first("SELECT owner FROM lease") { $0.text(0) }
            hasLease.withLock { $0 = holder == owner }
            return result
        } afterCommit: { [self] in
            // A later change of the same commit may have taken the lease again.
            if !hasLease.withLock({ $0 }) { ownerLock.unlock() }
        }
    }

    func read<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        do { return try await reader.read(body) } catch let error where error.meansDamage {
            try await writer.perform { try $0.repair() }
            return try await reader.read(body)
        } catch {
            throw OfflineQueueError(wrapping: error)
        }
    }

    package func checkpoint() async throws {
        try await writer.perform { try $0.checkpoint() }
    }

    package func version() async throws -> StoreVersion {
        try await reader.version()
    }

    package func keep(_ body: StoredBody, inlineLimit: Int) async throws -> OwnedBody {
        do {
            switch body {
            case .none: return OwnedBody(stored: .none, size: 0)
            // One that stays in memory needs no other thread.
            case .data(let data) where data.count <= inlineLimit:
                return OwnedBody(stored: body, size: Int64(data.count))
            case .data(let data):
                return try await BlockingWork.run { [files] in try BodyFiles.make(of: data, in: files.bodies) }
            case .file(let file):
                return try await BlockingWork.run { [files] in try BodyFiles.copy(file, into: files.bodies) }
            }
        } catch {
            throw OfflineQueueError(wrapping: error)
        }
    }

    package func discard(_ body: OwnedBody) async throws {
        guard case .file(let file) = body.stored else { return }
        try await BlockingWork.run { try BodyFiles.remove(file) }
    }

    package func isWhole(_ record: StoredRecord) async throws -> Bool {
        guard case .file(let file) = record.body else { return true }
        let checksum = record.content.bodyChecksum
        return try await BlockingWork.run { try BodyFiles.isWhole(file, checksum: checksum) }
    }

    package func close() async {
        checker.interrupt()
        await reader.close()
        await writer.close()
        ownerLock.unlock()
    }
}

/// Judges whether another owner of the lease still works. It does not use the calendar, so a change of the clock has no
/// effect.
struct RivalWatch: Sendable {
    private var seen: (fence: Int64, beat: Int64, silence: Duration, last: Duration)?

    /// The most time that one look adds to a silence. A longer time between two looks means that this process did not
    /// run itself, as when the machine slept. The other process may not have run either.
    private static let longestStep = Duration.milliseconds(400)

    /// Returns whether an owner has been silent for longer than a time.
    ///
    /// - Parameters:
    ///   - fence: The fencing number of the lease.
    ///   - beat: The number of the owner's last beat.
    ///   - now: A time that only rises.
    ///   - limit: How long the owner may be silent, counted from when this watch first saw the beat. Two looks count
    ///     at most 400 ms.
    mutating func isSilent(fence: Int64, beat: Int64, at now: Duration, for limit: Duration) -> Bool {
        guard let seen, seen.fence == fence, seen.beat == beat else {
            seen = (fence, beat, .zero, now)
            return false
        }
        let silence = seen.silence + min(now - seen.last, Self.longestStep)
        self.seen = (fence, beat, silence, now)
        return silence >= limit
    }
}
