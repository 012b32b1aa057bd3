package import Foundation
import RequestOperations

/// A store in one SQLite database in a directory of this machine.
package final class SQLiteStore: OfflineStore {
    let files: QueueFiles
    let writer: GroupCommit
    let reader: SQLiteReader
    /// Tells this store from others that have the same database open, in this process or another one.
    let owner = UUID().uuidString
    /// The lock that lasts as long as this store has the lease. The system frees it when the process ends.
    let ownerLock: FileLock
    /// What is known of the lease of another owner.
    let rival = Locked(RivalWatch())

    private init(
        _ files: QueueFiles, date: @escaping @Sendable () -> Date,
        onRecovery: @escaping @Sendable (OfflineRecovery) -> Void
    ) throws {
        self.files = files
        writer = GroupCommit(try SQLiteDatabase(files: files, date: date, onRecovery: onRecovery))
        reader = SQLiteReader(try SQLiteDatabase(files: files, isReader: true, date: date))
        ownerLock = try FileLock(files.owner.path)
    }

    /// Opens a store, and makes its files if there are none.
    ///
    /// A database of up to 32 MiB is checked before this returns. A larger one is checked in the background.
    ///
    /// - Parameters:
    ///   - name: The name of the queue.
    ///   - directory: The directory of its files.
    ///   - date: The time of the calendar.
    ///   - onRecovery: Called when a damage was found and repaired, here or later.
    package static func open(
        name: String, directory: URL, date: @escaping @Sendable () -> Date,
        onRecovery: @escaping @Sendable (OfflineRecovery) -> Void
    ) async throws -> SQLiteStore {
        let files = try QueueFiles(name: name, directory: directory)
        let store: SQLiteStore
        do {
            try files.makeFolders()
            store = try SQLiteStore(files, date: date, onRecovery: onRecovery)
        } catch {
            throw OfflineQueueError(wrapping: error)
        }
        // The first transaction opens the database.
        let orphans = try await store.writer.write { connection in try BodyFiles.orphans(in: files, connection) }
        for file in orphans { try BodyFiles.remove(file) }
        if files.databaseSize > SQLiteDatabase.checkedSize {
            let checker = try SQLiteDatabase(files: files, isReader: true, date: date)
            // The check reads the whole file, so it is no work for a thread of Swift's Tasks.
            DispatchQueue.global(qos: .background).async { store.check(by: checker) }
        }
        return store
    }

    /// Checks a large database beside the work.
    private func check(by checker: SQLiteDatabase) {
        defer { checker.close() }
        do { try checker.check() } catch let error where error.meansDamage {
            Task { try await writer.perform { try $0.repair() } }
        } catch {
            // The file could not be read now. The work meets the same error, and tells of it.
        }
    }

    /// Makes a change. A reader that found damage comes here too, since only the writer recovers.
    func write<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteConnection) throws -> Result
    ) async throws -> Result {
        try await writer.write(body)
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

    package func close() async {
        await reader.close()
        await writer.close()
        ownerLock.unlock()
    }
}

/// Judges whether another owner of the lease still works. It knows no calendar, so a change of the clock deceives
/// nobody.
struct RivalWatch: Sendable {
    private var seen: (fence: Int64, beat: Int64, since: Duration)?

    /// Returns whether an owner has been silent for longer than a time.
    ///
    /// - Parameters:
    ///   - fence: The fencing number of the lease.
    ///   - beat: The number of the owner's last beat.
    ///   - now: A time that only rises.
    ///   - limit: How long the owner may be silent, counted from when this watch first saw the beat.
    mutating func isSilent(fence: Int64, beat: Int64, at now: Duration, for limit: Duration) -> Bool {
        guard let seen, seen.fence == fence, seen.beat == beat else {
            seen = (fence, beat, now)
            return false
        }
        return now - seen.since >= limit
    }
}
