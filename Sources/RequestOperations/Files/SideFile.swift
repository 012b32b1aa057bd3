/// A small file beside a partial file or an upload, which tells a later operation where to go on.
enum SideFile {
    /// The content; `nil` if there is none that this user has written. Somebody else's could divert the bytes.
    static func content(of path: String) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
            return nil
        }
        // What cannot be read is no use, and the operation begins again.
        return try? handle.readToEnd()
    }

    /// Writes the file in one step. Only its owner may read it.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - path: The path, whose name ends with one of the suffixes of side files.
    ///   - kind: What it is the side file of, for the error.
    /// - Throws: A `RequestError` with the code `fileFailed`.
    static func write(_ data: Data, to path: String, of kind: String) throws {
        let place = URL(fileURLWithPath: path)
        let hidden = place.deletingLastPathComponent()
            .appendingPathComponent("\(PartialPlace.prefix)\(UUID().uuidString).\(place.pathExtension)").path
        do {
            let descriptor = open(hidden, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.close()
            guard rename(hidden, path) == 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        } catch {
            unlink(hidden)
            throw RequestError(
                .fileFailed, stage: .transfer, underlying: error,
                reason: "the side file of the \(kind) cannot be written")
        }
    }

    static func encoded(_ record: some Encodable, of kind: String) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        do { return try encoder.encode(record) } catch {
            throw RequestError(
                .fileFailed, stage: .transfer, underlying: error,
                reason: "the side file of the \(kind) cannot be written")
        }
    }
}
