import Foundation

/// The files of one queue in its directory.
struct QueueFiles: Sendable {
    let directory: URL
    /// The name of the queue as the beginning of file names.
    let stem: String
    let database: URL
    /// The folder of the bodies that are too long for the database.
    let bodies: URL

    /// Makes the names. It makes no file.
    ///
    /// - Parameter name: The name of the queue. Characters other than letters, digits, `-` and `_` are escaped.
    /// - Throws: ``OfflineQueueError/Code/invalidName``.
    init(name: String, directory: URL) throws {
        self.directory = directory
        // Every string can be encoded: it is valid Unicode.
        stem = name.addingPercentEncoding(withAllowedCharacters: Self.plain) ?? ""
        // The longest suffix must fit into the 255 bytes of a file name.
        guard !stem.isEmpty, stem.utf8.count <= 200 else { throw OfflineQueueError(.invalidName) }
        database = directory.appendingPathComponent(stem + ".sqlite")
        bodies = directory.appendingPathComponent(stem + ".bodies")
    }

    private static let plain = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")

    var log: URL { file(".sqlite-wal") }
    var sharedMemory: URL { file(".sqlite-shm") }
    /// The lock that each transaction shares, and that a recovery has for itself.
    var gate: URL { file(".gate") }
    /// The lock that says that an owner of the lease lives.
    func owner(_ owner: String) -> URL { file(".owner-\(owner)") }
    var mark: URL { file(".mark") }
    /// A database that is being made of a damaged one.
    var recovering: URL { file(".recovering.sqlite") }
    /// A database that was made of a damaged one, and is complete.
    var recovered: URL { file(".recovered.sqlite") }

    /// The place for a damaged database.
    func damaged(at date: Date, number: Int) -> URL {
        file(".damaged-\(Int(date.timeIntervalSince1970))-\(number).sqlite")
    }

    /// The last damaged database that was set aside; `nil` if there is none.
    func lastDamaged() throws -> URL? {
        let prefix = file(".damaged-").lastPathComponent
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
            $0.hasPrefix(prefix) && $0.hasSuffix(".sqlite")
        }
        return names.max().map { directory.appendingPathComponent($0) }
    }

    private func file(_ suffix: String) -> URL { directory.appendingPathComponent(stem + suffix) }

    /// Makes the directory and the folder of the bodies.
    func makeFolders() throws {
        try Self.makeFolder(directory)
        // What is made in the directory later has its protection.
        try FileProtection.apply(to: directory)
        try Self.makeFolder(bodies, permissions: 0o700)
    }

    /// Makes a folder and those above it, unless they are there.
    ///
    /// - Throws: ``FileError``, which names the folder and the reason. Foundation's error names neither.
    static func makeFolder(_ folder: URL, permissions: mode_t = 0o777) throws {
        guard mkdir(folder.path, permissions) != 0 else { return }
        let code = errno
        let above = folder.standardizedFileURL.deletingLastPathComponent()
        if code == ENOENT, above.path != folder.standardizedFileURL.path {
            try makeFolder(above)
            guard mkdir(folder.path, permissions) != 0, errno != EEXIST else { return }
            throw FileError(path: folder.path, code: errno)
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue { return }
        throw FileError(path: folder.path, code: code == EEXIST ? ENOTDIR : code)
    }

    /// Makes the file of a database if there is none, for this user only. SQLite's other files get its permissions.
    ///
    /// A file that exists is not touched: to close it would free the locks that SQLite has on it in this process.
    func makePrivate(_ database: URL) throws {
        let descriptor = open(database.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw FileError(path: database.path, code: errno)
        }
    }

    /// The number that identifies the file of the database; `nil` if there is no file.
    var databaseIdentity: UInt64? {
        var status = stat()
        return stat(database.path, &status) == 0 ? UInt64(status.st_ino) : nil
    }

    /// Whether a recovery has made a database and has not put it in its place.
    var hasRecovered: Bool { FileManager.default.fileExists(atPath: recovered.path) }

    /// The size of the database in bytes; 0 if there is no file.
    var databaseSize: Int64 {
        var status = stat()
        return stat(database.path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
