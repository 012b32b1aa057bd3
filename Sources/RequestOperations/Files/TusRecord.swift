/// The side file of an upload by tus: with it a later operation goes on.
struct TusRecord: Sendable, Hashable, Codable {
    /// What is uploaded. If it changes, the upload begins anew.
    enum Source: Sendable, Hashable, Codable {
        /// A file with this size and modification date.
        case file(FileStamp)
        /// Bytes with this SHA-256 digest.
        case data(digest: Data)
    }

    /// A digest of the URL where the upload was created, because a URL may hold secrets.
    let server: String
    let source: Source
    /// The URL of the upload is like a password for it, so only the owner may read the side file.
    let location: TusLocation

    /// The identity of the URL where an upload is created.
    static func identity(of url: URL?) -> String { SHA2.digest(of: url?.absoluteString ?? "").hexadecimal }

    /// The place of the side file of a file: a hidden name beside it, for each place where it is uploaded to.
    static func place(beside file: URL, for server: String) -> URL {
        let name = SHA2.digest(of: "upload\n\(file.lastPathComponent)\n\(server)").hexadecimal.prefix(32)
        return file.deletingLastPathComponent().appendingPathComponent("\(PartialPlace.prefix)\(name).upload")
    }

    init(server: String, source: Source, location: TusLocation) {
        self.server = server
        self.source = source
        self.location = location
    }

    /// Reads a side file; `nil` if there is none or it cannot be read. The upload then begins anew.
    init?(at place: URL) {
        guard let data = FileManager.default.contents(atPath: place.path),
            let record = try? JSONDecoder().decode(TusRecord.self, from: data)
        else { return nil }
        self = record
    }

    /// Whether an upload can go on with this record.
    func fits(_ server: String, _ source: Source, now: Date = Date()) -> Bool {
        server == self.server && source == self.source && location.expires.map { $0 > now } ?? true
    }

    /// Writes the side file in one step.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(to place: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let hidden = place.deletingLastPathComponent()
            .appendingPathComponent("\(PartialPlace.prefix)\(UUID().uuidString).upload")
        do {
            let data = try encoder.encode(self)
            let descriptor = open(hidden.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: data)
            try handle.close()
            guard rename(hidden.path, place.path) == 0 else {
                throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO)
            }
        } catch {
            unlink(hidden.path)
            throw RequestError(
                .fileFailed, stage: .transfer, underlying: error,
                reason: "the side file of the upload cannot be written")
        }
    }
}
