import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

private let systemWrite: @Sendable (Int32, UnsafeRawPointer?, Int) -> Int = { write($0, $1, $2) }

/// The files of bodies that a queue owns.
enum BodyFiles {
    /// Writes a body to a new file. When it returns, the file is on disk.
    static func write(_ data: Data, into folder: URL) throws -> URL {
        try makeFile(in: folder) { descriptor, path in
            var rest = data[...]
            while !rest.isEmpty {
                // Not the function of this type.
                let written = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
                guard written > 0 || errno == EINTR else { throw FileError(path: path, code: errno) }
                rest = rest.dropFirst(max(written, 0))
            }
        }
    }

    /// Copies a file. When it returns, the copy is on disk. The whole never passes through memory.
    static func copy(_ source: URL, into folder: URL) throws -> URL {
        let input = try FileHandle(forReadingFrom: source)
        defer { close(input.fileDescriptor) }
        return try makeFile(in: folder) { descriptor, _ in
            let output = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
            while let piece = try input.read(upToCount: 1 << 20), !piece.isEmpty { try output.write(contentsOf: piece) }
        }
    }

    /// Removes a file. One that is gone already is no error.
    static func remove(_ file: URL) throws {
        guard unlink(file.path) != 0, errno != ENOENT else { return }
        throw FileError(path: file.path, code: errno)
    }

    private static func makeFile(in folder: URL, _ fill: (Int32, String) throws -> Void) throws -> URL {
        let file = folder.appendingPathComponent(UUID().uuidString)
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: file.path, code: errno) }
        defer { close(descriptor) }
        do {
            try fill(descriptor, file.path)
            guard fsync(descriptor) == 0 else { throw FileError(path: file.path, code: errno) }
            try flush(folder)
        } catch {
            unlink(file.path)
            throw error
        }
        return file
    }

    /// Brings the entries of a folder to the disk.
    private static func flush(_ folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: folder.path, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(path: folder.path, code: errno) }
    }

    /// The files that no record has. A file that is younger than an hour may belong to a record that is being added.
    static func orphans(in files: QueueFiles, _ connection: SQLiteConnection) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(at: files.bodies, includingPropertiesForKeys: nil).filter { file in
            let values = try file.resourceValues(forKeys: [.contentModificationDateKey])
            guard let changed = values.contentModificationDate, changed.timeIntervalSinceNow < -3600 else {
                return false
            }
            return try connection.first(
                "SELECT 1 FROM records WHERE file = ?", .text(file.lastPathComponent), row: { $0.integer(0) }) == nil
        }
    }
}
