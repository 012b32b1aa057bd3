import Foundation
import RequestOperations

/// Shows that an owner of the lease lives, by a file that it has locked. The system frees the lock of a dead process.
///
/// Each owner has a file of its own. So a process that takes the lease over never holds the lock of another owner. An
/// owner that was stopped for a while sees whether its successor lives. The file exists while the lock is held.
final class OwnerLock: Sendable {
    private let path: String
    private let held = Locked<FileLock?>(nil)

    /// Makes a lock that is free. No file is made.
    init(of owner: String, in files: QueueFiles) {
        path = files.owner(owner).path
    }

    /// Takes the lock, unless it is held already.
    ///
    /// - Throws: ``FileError``, or ``OfflineQueueError/Code/busy`` if another process checks the lock at this moment.
    func lock() throws {
        guard held.withLock({ $0 == nil }) else { return }
        while true {
            let lock = try FileLock(path)
            // Other processes hold the lock for a moment, to see whether they can. A process that is stopped in that
            // moment must not stop us.
            guard lock.tryLock(.exclusive) else { throw OfflineQueueError(.busy) }
            // One of them may have removed the file between the two calls.
            guard lock.isOfFile(at: path) else { continue }
            return held.withLock { $0 = lock }
        }
    }

    /// Frees the lock and removes its file.
    func unlock() {
        let lock = held.withLock { held in
            defer { held = nil }
            return held
        }
        // The file goes first: a lock that is free must not be found.
        if lock != nil { unlink(path) }
    }

    /// Whether an owner is dead, or does not use its lock. The file that it left is removed.
    ///
    /// - Throws: ``FileError``, if that cannot be known.
    static func isDead(_ owner: String, in files: QueueFiles) throws -> Bool {
        // Damaged bytes must not lead to another file.
        guard UUID(uuidString: owner) != nil else { return true }
        let path = files.owner(owner).path
        guard let lock = try FileLock(ifExists: path) else { return true }
        guard lock.tryLock(.exclusive) else { return false }
        unlink(path)
        return true
    }

    /// Removes the files of owners that were killed.
    ///
    /// - Throws: ``FileError``, or an error of the file system.
    static func removeRemains(in files: QueueFiles) throws {
        let prefix = files.owner("").lastPathComponent
        for name in try FileManager.default.contentsOfDirectory(atPath: files.directory.path)
        where name.hasPrefix(prefix) {
            _ = try isDead(String(name.dropFirst(prefix.count)), in: files)
        }
    }
}
