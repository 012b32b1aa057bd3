import Foundation

/// The files of bodies that a queue owns.
enum BodyFiles {
    /// Writes a body to a new file. When it returns, the file is on disk.
    static func make(of data: Data, in folder: URL) throws -> OwnedBody {
        var rest = data[...]
        return try makeFile(in: folder) {
            let piece = rest.prefix(pieceSize)
            rest = rest.dropFirst(piece.count)
            return piece
        }
    }

    /// Copies a file. When it returns, the copy is on disk. The whole never passes through memory.
    static func copy(_ source: URL, into folder: URL) throws -> OwnedBody {
        // The object closes its file when it is released. A second close could hit a file that another thread has just
        // opened.
        let input = try readable { try FileHandle(forReadingFrom: source) }
        return try makeFile(in: folder) { try readable { try input.read(upToCount: pieceSize) ?? Data() } }
    }

    /// Returns the result of a step that reads the user's file. If the step fails, the request cannot be used.
    private static func readable<Value>(_ step: () throws -> Value) throws -> Value {
        do { return try step() } catch { throw OfflineQueueError(.unusableRequest, underlying: error) }
    }

    /// Removes a file. A missing file is not an error.
    static func remove(_ file: URL) throws {
        guard unlink(file.path) != 0, errno != ENOENT else { return }
        throw FileError(path: file.path, code: errno)
    }

    /// The size of a file in bytes; `nil` if it cannot be read.
    static func size(of file: URL) -> Int64? {
        var status = stat()
        return stat(file.path, &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Whether a file has the bytes that were written. It reads the whole file.
    static func isWhole(_ file: URL, checksum expected: Int64?) throws -> Bool {
        let input = try FileHandle(forReadingFrom: file)
        var checksum = Checksum()
        while let piece = try input.read(upToCount: pieceSize), !piece.isEmpty { checksum.add(piece) }
        return Int64(bitPattern: checksum.value) == expected
    }

    /// Bodies are read, written and summed up in pieces of this size, in bytes.
    private static let pieceSize = 1 << 20

    /// Makes a file of pieces. An empty piece is the end.
    private static func makeFile(in folder: URL, _ next: () throws -> Data) throws -> OwnedBody {
        let file = folder.appendingPathComponent(UUID().uuidString)
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw FileError(path: file.path, code: errno) }
        defer { close(descriptor) }
        do {
            var (checksum, size) = (Checksum(), Int64(0))
            while case let piece = try next(), !piece.isEmpty {
                try append(piece, to: descriptor, file.path)
                checksum.add(piece)
                size += Int64(piece.count)
            }
            guard fsync(descriptor) == 0 else { throw FileError(path: file.path, code: errno) }
            try flush(folder)
            return OwnedBody(stored: .file(file), size: size, checksum: Int64(bitPattern: checksum.value))
        } catch {
            unlink(file.path)
            throw error
        }
    }

    private static func append(_ piece: Data, to descriptor: Int32, _ path: String) throws {
        var rest = piece[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { throw FileError(path: path, code: errno) }
            rest = rest.dropFirst(max(written, 0))
        }
    }

    /// Flushes the entries of a folder to the disk.
    static func flush(_ folder: URL) throws {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: folder.path, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw FileError(path: folder.path, code: errno) }
    }

    /// The files that are older than an hour. A younger one may belong to a record that is being added.
    static func old(in folder: URL) throws -> [String] {
        let limit = Date() - 3600
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { name in
            do {
                let path = folder.appendingPathComponent(name).path
                let changed = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
                return changed.map { $0 < limit } ?? false
            } catch {
                // Another process has removed it meanwhile.
                return false
            }
        }
    }
}
