import Foundation

/// A lock of a file (flock(2)). The system frees it when its process ends, however that happens.
///
/// Two locks of one file exclude each other even within a process.
final class FileLock: Sendable {
    /// How a lock is shared.
    enum Kind: Sendable {
        case shared
        case exclusive
    }

    private let descriptor: Int32

    /// Opens the file of the lock, and makes it if there is none. Nothing is locked yet.
    init(_ path: String) throws {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno) }
    }

    /// Opens the file of the lock; `nil` if there is none. Nothing is locked yet.
    init?(ifExists path: String) throws {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor < 0 else { return }
        guard errno == ENOENT else { throw FileError(path: path, code: errno) }
        return nil
    }

    deinit { close(descriptor) }

    /// Whether the file at a path is the file of the lock. It is another file if it was removed and made again.
    func isOfFile(at path: String) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino
            && own.st_dev == named.st_dev
    }

    /// Takes the lock if it is free. Returns whether it was.
    func tryLock(_ kind: Kind) -> Bool {
        flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0
    }

    /// Takes the lock. It blocks the thread until the lock is free.
    func lock(_ kind: Kind) {
        while flock(descriptor, kind == .shared ? LOCK_SH : LOCK_EX) != 0, errno == EINTR {}
    }

    /// Frees the lock.
    func unlock() {
        flock(descriptor, LOCK_UN)
    }
}

/// A system call on a file failed.
struct FileError: Error, CustomStringConvertible {
    let path: String
    /// The `errno` of the call.
    let code: Int32

    var meansFullDisk: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

    var description: String { "\(path): \(String(cString: strerror(code)))" }
}
