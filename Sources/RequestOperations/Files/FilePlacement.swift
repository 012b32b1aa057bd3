/// How a complete file gets to its place.
struct FilePlacement: Sendable {
    /// The place of the file, if it is free.
    let target: URL
    let ifExists: ExistingFilePolicy

    /// - Parameter published: The file of an attempt whose value was not accepted. It is replaced where it is.
    init(target: URL, ifExists: ExistingFilePolicy, replacing published: PublishedFile? = nil) {
        if let published, [published.target, published.url].contains(target), published.isThere {
            (self.target, self.ifExists) = (published.url, .replace)
        } else {
            (self.target, self.ifExists) = (target, ifExists)
        }
    }

    /// How many names are tried at most.
    private static let mostNames = 100_000

    /// Fails early if the file certainly cannot get to its place.
    ///
    /// - Returns: Whether it replaces a file.
    /// - Throws: A `RequestError` with the code `fileFailed`.
    @discardableResult
    func check() throws -> Bool {
        guard target.isFileURL else {
            throw RequestError(.fileFailed, stage: .transfer, reason: "the destination's URL is not that of a file")
        }
        guard !target.lastPathComponent.isEmpty, target.lastPathComponent != "/" else {
            throw RequestError(.fileFailed, stage: .transfer, reason: "the destination has no name")
        }
        return try replaced() != nil
    }

    /// The file that would be replaced; `nil` if there is none.
    private func replaced() throws -> stat? {
        var old = stat()
        guard lstat(target.path, &old) == 0 else {
            // The folder is made later.
            guard errno == ENOENT else { throw RequestError.fileFailed("made") }
            return nil
        }
        guard ifExists != .uniqueName else { return nil }
        if old.st_mode & S_IFMT == S_IFDIR {
            errno = EISDIR
            throw RequestError.fileFailed("made")
        }
        guard ifExists == .replace else {
            errno = EEXIST
            throw RequestError.fileFailed("made")
        }
        guard [S_IFREG, S_IFLNK].contains(old.st_mode & S_IFMT) else {
            throw RequestError(
                .fileFailed, stage: .transfer, reason: "the destination is a pipe, a device or a socket")
        }
        guard old.st_mode & S_IFMT == S_IFLNK || access(target.path, W_OK) == 0 else {
            throw RequestError.fileFailed("replaced")
        }
        return old
    }

    /// Makes the folder and its parents if they are missing.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    static func makeFolder(_ folder: URL) throws {
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            let cause = (error as NSError).userInfo[NSUnderlyingErrorKey] as? any Error
            let text = ((cause ?? error) as NSError).localizedDescription
            throw RequestError(
                .fileFailed, stage: .transfer, underlying: error,
                reason: "the destination's folder cannot be made: \(text)")
        }
    }

    /// Moves a complete file to its place, and makes the file system keep that. Returns the place.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`. The file is then where it was, and so is an old file.
    func move(_ file: PartialFile) throws -> URL {
        let place = try name(file)
        // The file has its name, whatever this says. Some file systems cannot do it.
        let folder = open(target.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            _ = fsync(folder)
            close(folder)
        }
        return place
    }

    private func name(_ file: PartialFile) throws -> URL {
        switch ifExists {
        case .replace:
            if let old = try replaced(), old.st_mode & S_IFMT == S_IFREG { file.takePermissions(of: old) }
            guard rename(file.place.file, target.path) == 0 else { throw RequestError.fileFailed("put in its place") }
            return target
        case .fail:
            guard try give(target, to: file.place.file) else {
                errno = EEXIST
                throw RequestError.fileFailed("put in its place")
            }
            return target
        case .uniqueName:
            let name = SafeFileName(plain: target.lastPathComponent)
            for number in 1...Self.mostNames {
                let place =
                    number == 1
                    ? target : target.deletingLastPathComponent().appendingPathComponent(name.variant(number))
                if try give(place, to: file.place.file) { return place }
            }
            errno = EEXIST
            throw RequestError.fileFailed("put in its place")
        }
    }

    /// Gives a file a name. Returns `false` if the name is taken.
    private func give(_ place: URL, to hidden: String) throws -> Bool {
        var number = renameExclusively(hidden, to: place.path, in: AT_FDCWD)
        if [EINVAL, ENOSYS, EOPNOTSUPP].contains(number) { number = link(hidden, at: place.path) }
        switch number {
        case 0: return true
        case EEXIST, EISDIR: return false
        default:
            errno = number
            throw RequestError.fileFailed("put in its place")
        }
    }

    /// Renames a file where the file system has no exclusive way of it. Returns 0, or the error number.
    private func link(_ hidden: String, at path: String) -> Int32 {
        guard Foundation.link(hidden, path) != 0 else {
            unlink(hidden)
            return 0
        }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return errno }
        // Without links, an empty file takes the name, and the complete file replaces it.
        let placeholder = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard placeholder >= 0 else { return errno }
        close(placeholder)
        guard rename(hidden, path) != 0 else { return 0 }
        let number = errno
        unlink(path)
        return number
    }
}

/// A file that an attempt put in its place.
struct PublishedFile: Sendable {
    /// Where the file should go.
    let target: URL
    /// Where it is.
    let url: URL
    private let stamp: FileStamp?

    init(target: URL, url: URL) {
        self.target = target
        self.url = url
        stamp = try? FileStamp(of: url)
    }

    /// Whether the file is still there. Another file at its place is somebody else's.
    var isThere: Bool { stamp != nil && (try? FileStamp(of: url)) == stamp }
}
