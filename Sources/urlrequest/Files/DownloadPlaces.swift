import RequestOperations

/// Where the files of one run of `download` go, and which of them are there already.
final class DownloadPlaces: Sendable {
    /// Thrown where a file that is there already would be downloaded.
    struct FileIsThere: Error {
        let path: String
        let size: Int64
    }

    /// The path of the only file; `nil` if files go to a folder, under the names that servers suggest.
    private let file: String?
    private let ifExists: ExistingFile
    private let resumes: Bool
    private let checksum: FileDigest?
    /// Whether the folder had files before the run.
    private let hadFiles: Bool
    /// The paths of files that this run has made or found.
    private let given = Locked<Set<String>>([])

    /// - Parameters:
    ///   - file: The path of the only file; `nil` for those of a folder.
    ///   - folder: The folder.
    ///   - ifExists: What happens if there is a file already.
    ///   - resumes: Whether a file that is whole counts as downloaded.
    ///   - checksum: The digest of the only file.
    init(file: String?, in folder: URL, ifExists: ExistingFile, resumes: Bool, checksum: FileDigest?) {
        self.file = file.map { URL(fileURLWithPath: $0).path }
        self.ifExists = ifExists
        self.resumes = resumes
        self.checksum = checksum
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        hadFiles = names.contains { !$0.hasPrefix(".") }
    }

    /// Notes a file that this run has made or found.
    func give(_ path: String) {
        _ = given.withLock { $0.insert(path) }
    }

    // MARK: Before a download

    /// Throws ``FileIsThere`` if a file counts as downloaded whatever the server says.
    func check() throws {
        guard let file, ifExists == .skip, let there = status(file) else { return }
        try keep(file, there)
    }

    /// Whether a request for the head alone can tell that there is nothing to download.
    var needsHead: Bool {
        guard resumes || ifExists == .skip else { return false }
        return file.map { status($0) != nil } ?? hadFiles
    }

    /// Throws ``FileIsThere`` if the head of a response says that the file is there.
    func check(_ head: ResponseHead, in folder: URL) throws {
        let place =
            file.map { URL(fileURLWithPath: $0) } ?? folder.appendingPathComponent(SafeFileName(of: head).variant(1))
        // A server may leave the length out, since no content follows.
        guard ifExists == .skip || head.lengthOfWhole != nil else { return }
        _ = try self.place(for: head, place, total: head.lengthOfWhole)
    }

    // MARK: During a download

    /// The place of a file. Throws ``FileIsThere`` if it is there already.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - place: The place by the arguments, or by the name that the server suggests.
    ///   - total: The length of the whole file; `nil` if it is unknown.
    func place(for head: ResponseHead, _ place: URL, total: Int64?) throws -> URL {
        let name = SafeFileName(plain: place.lastPathComponent)
        var number = 1
        while true {
            let candidate =
                number == 1 ? place : place.deletingLastPathComponent().appendingPathComponent(name.variant(number))
            number += 1
            if file == nil, given.withLock({ $0.contains(candidate.path) }) { continue }
            if let there = status(candidate.path), try isWhole(candidate.path, there, head, total) {
                try keep(candidate.path, there)
            }
            guard ifExists == .number, isTaken(candidate.path) else { return candidate }
        }
    }

    /// Whether a file counts as downloaded.
    private func isWhole(_ path: String, _ there: stat, _ head: ResponseHead, _ total: Int64?) throws -> Bool {
        if ifExists == .skip { return true }
        guard resumes, total == nil || total == Int64(there.st_size) else { return false }
        if let checksum { return try checksum.matches(fileAt: path) }
        // The length must be known. Without it, any file of this name would count as the one of the server.
        guard total != nil else { return false }
        guard let changed = head.field("Last-Modified").flatMap({ HTTPDate.parse($0, now: Date()) }),
            let date = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
        else { return true }
        return changed <= date
    }

    private func keep(_ path: String, _ there: stat) throws -> Never {
        if let checksum, try !checksum.matches(fileAt: path) {
            throw RequestError(
                .digestMismatch, stage: .validate,
                reason:
                    "\(path), which is there, does not have the \(checksum.algorithm.rawValue) that --checksum names")
        }
        throw FileIsThere(path: path, size: Int64(there.st_size))
    }

    /// The status of a regular file, or of one that a link leads to.
    private func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status : nil
    }

    private func isTaken(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
