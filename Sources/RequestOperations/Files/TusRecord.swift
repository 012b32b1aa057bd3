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

    static let suffix = ".upload"

    /// The identity of the URL where an upload is created.
    static func identity(of url: URL?) -> String { SHA2.digest(of: url?.absoluteString ?? "").hexadecimal }

    /// The place of the side file of a file: a hidden name beside it, for each place where it is uploaded to.
    static func place(beside file: URL, for server: String) -> URL {
        let name = SHA2.digest(of: "upload\n\(file.lastPathComponent)\n\(server)").hexadecimal.prefix(32)
        return file.deletingLastPathComponent().appendingPathComponent("\(PartialPlace.prefix)\(name)\(suffix)")
    }

    init(server: String, source: Source, location: TusLocation) {
        self.server = server
        self.source = source
        self.location = location
    }

    /// Reads a side file; `nil` if there is none or it cannot be read. The upload then begins anew.
    init?(at place: URL) {
        guard let data = SideFile.content(of: place.path),
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
        try SideFile.write(try SideFile.encoded(self, of: "upload"), to: place.path, of: "upload")
    }
}
