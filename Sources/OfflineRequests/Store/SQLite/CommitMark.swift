import Foundation

/// A small file beside the database that says how many commits there have been.
///
/// SQLite silently ignores the end of a write-ahead log that is cut off. The mark is written after each commit, so a
/// database with fewer commits than its mark has lost some. The mark is not flushed to the disk: after a loss of power
/// it may be behind the database, but it is never ahead of it.
final class CommitMark: Sendable {
    /// What a mark says.
    struct Reading: Sendable, Equatable {
        /// The number of commits.
        var commits: Int64
        /// The highest id that was given to a record.
        var lastID: Int64
    }

    private let descriptor: Int32
    private let path: String

    /// Opens the file, and makes it if there is none.
    init(_ path: String) throws {
        self.path = path
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno) }
    }

    deinit { close(descriptor) }

    /// The present mark, or `nil` if there is none or if it is damaged.
    var reading: Reading? {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        guard pread(descriptor, &bytes, Self.size, 0) == Self.size else { return nil }
        let numbers = (0..<3).map { number in
            (0..<8).reduce(UInt64(0)) { $0 << 8 | UInt64(bytes[number * 8 + $1]) }
        }
        guard numbers[2] == Self.checksum(numbers[0], numbers[1]) else { return nil }
        return Reading(commits: Int64(bitPattern: numbers[0]), lastID: Int64(bitPattern: numbers[1]))
    }

    /// Writes a mark.
    func write(_ reading: Reading) throws {
        let (commits, lastID) = (UInt64(bitPattern: reading.commits), UInt64(bitPattern: reading.lastID))
        let numbers = [commits, lastID, Self.checksum(commits, lastID)]
        let bytes = numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
        guard pwrite(descriptor, bytes, Self.size, 0) == Self.size else { throw FileError(path: path, code: errno) }
    }

    private static let size = 24

    private static func checksum(_ first: UInt64, _ second: UInt64) -> UInt64 {
        var checksum = Checksum()
        for number in [first, second] {
            checksum.add(number)
        }
        return checksum.value
    }
}
