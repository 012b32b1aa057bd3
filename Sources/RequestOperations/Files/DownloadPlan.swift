/// Where the file of a download goes. Folders that are missing are made, with their parents.
public enum DownloadDestination: Sendable {
    /// The file has this URL. A link to a file is followed.
    case file(URL)

    /// The file goes into this folder, under the name that the server suggests.
    ///
    /// The name comes from `Content-Disposition` (RFC 6266), or else it is the last component of the last URL. It is made
    /// safe: no path, no control or invisible characters, no leading dot, no name that Windows reserves, at most 240 bytes.
    /// It is `download` if nothing is left.
    case folder(URL)

    /// A closure chooses the URL of the file from the head of the response.
    ///
    /// Called once for each response with the whole file, after its head was accepted, on a queue of the download. An error that
    /// it throws fails the attempt.
    case chosen(@Sendable (_ head: ResponseHead) throws -> URL)
}

/// What happens if the destination of a download already has a file.
public enum ExistingFilePolicy: Sendable, Hashable {
    /// The download fails with ``RequestError/Code/fileFailed``, before its body is read where that is possible. The old
    /// file is kept.
    case fail
    /// The new file replaces the old one in one step, when it is complete. Until then the old file is kept. The new file
    /// gets the permissions of the old one.
    case replace
    /// The new file gets the next free name: `a.tar.gz`, `a-2.tar.gz`, `a-3.tar.gz`.
    case uniqueName
}

/// When a download resumes after the bytes that it already has.
///
/// A download resumes only if the server names the state of the file by a strong validator (RFC 9110, section 8.8.1). It requests
/// the file without compression (`Accept-Encoding: identity`), unless the request has that field. If the server compresses the
/// file anyway, the file stays compressed and is not resumed.
public struct DownloadResumption: Sendable, Hashable {
    enum Scope: Sendable, Hashable {
        case never
        case attempts
        case processes(key: String?)
    }

    let scope: Scope

    /// Each attempt begins at the first byte.
    public static let never = Self(scope: .never)

    /// A retry of the operation resumes where the previous attempt stopped. The default. If the operation fails or is cancelled,
    /// nothing stays in the folder. A process that is killed leaves a partial file, which
    /// ``DownloadOperation/removeStalePartials(in:olderThan:)`` removes.
    public static let betweenAttempts = Self(scope: .attempts)

    /// A later operation resumes too, even in another process.
    ///
    /// An operation that fails or is cancelled leaves a partial file and a side file in the folder of the destination. So does a
    /// process that is killed. Their hidden names begin with `.RequestOperations-`. An operation with the same destination and
    /// URL takes these files over. Only one operation at a time can do so: a second one fails with
    /// ``RequestError/Code/fileFailed``. ``DownloadOperation/removeStalePartials(in:olderThan:)`` removes files that no operation
    /// takes over.
    ///
    /// With ``DownloadDestination/chosen(_:)`` the folder is not known before the response. So this then means
    /// ``betweenAttempts``.
    public static let acrossProcesses = Self(scope: .processes(key: nil))

    /// A later operation with the same destination and key resumes, as with ``acrossProcesses``.
    ///
    /// - Parameter key: Identifies the file instead of the URL. For a URL provider, the URL without its query is the default.
    ///   Give a key if the query of a provided URL tells files apart. Otherwise one file could continue with the bytes of
    ///   another.
    public static func acrossProcesses(key: String) -> Self { Self(scope: .processes(key: key)) }
}

/// A complete file that was downloaded.
public struct DownloadedFile: Sendable {
    /// Where the file is.
    public let url: URL

    /// The length of the file in bytes.
    public let size: Int64

    /// How many bytes of the file were there before the last request. They came from earlier attempts or processes. 0 if the
    /// last response had the whole file.
    public let resumedBytes: Int64

    /// The digests that were verified: the caller's, and the server's `Repr-Digest`.
    public let verifiedDigests: [FileDigest]

    /// The head of the last response.
    public let head: ResponseHead
}

/// What the caller wants of a download.
struct DownloadPlan: Sendable {
    let destination: DownloadDestination
    let ifExists: ExistingFilePolicy
    let resumption: DownloadResumption
    let checksum: FileDigest?
    /// How many requests download the file at once. 1 does not ask for parts.
    let segments: Int

    /// Fails before anything is sent if the download certainly cannot end well.
    ///
    /// - Parameter published: The file of an attempt whose value was not accepted.
    func check(replacing published: PublishedFile?) throws {
        if let checksum, !checksum.isValid {
            throw RequestError(
                .invalidDigest, stage: .makeTask,
                reason: "the given checksum is not a digest of \(checksum.algorithm.rawValue)")
        }
        switch destination {
        case .file(let file):
            try placement(of: file, replacing: published).check()
        case .folder(let folder):
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), !isFolder.boolValue {
                errno = ENOTDIR
                throw RequestError.fileFailed("made")
            }
        case .chosen:
            break
        }
    }

    /// How the file gets to a place. A link to a file is followed.
    func placement(of file: URL, replacing published: PublishedFile? = nil) -> FilePlacement {
        var status = stat()
        var target = file
        if case .folder = destination {
            // Others may make links in the folder. They must not decide where the file goes.
        } else if lstat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
            target = file.resolvingSymlinksInPath()
        }
        return FilePlacement(target: target, ifExists: ifExists, replacing: published)
    }

    /// The name that a response suggests, if the caller asks for one.
    func name(in head: ResponseHead) -> String? {
        guard case .folder = destination else { return nil }
        return SafeFileName(of: head).variant(1)
    }

    /// The place of the file of a response.
    ///
    /// - Parameter name: The name that the response suggested.
    func target(for head: ResponseHead, name: String?) throws -> URL {
        switch destination {
        case .file(let file): file
        case .folder(let folder):
            // The name may be one that a side file has kept.
            folder.appendingPathComponent((name.flatMap { SafeFileName($0) } ?? SafeFileName(of: head)).variant(1))
        case .chosen(let choose): try choose(head)
        }
    }

    /// Whether an operation that fails leaves its partial file to others.
    var leavesPartials: Bool {
        guard case .processes = resumption.scope else { return false }
        if case .chosen = destination { return false }
        return true
    }

    /// Where a partial file lies that other processes find; `nil` if none is to be found.
    ///
    /// - Parameter identity: The URL or key of the file.
    func sharedPlace(for identity: String) -> PartialPlace? {
        guard leavesPartials else { return nil }
        switch destination {
        case .file(let file):
            let target = placement(of: file).target
            return .shared(in: target.deletingLastPathComponent(), for: "file\n\(target.lastPathComponent)")
        case .folder(let folder): return .shared(in: folder, for: "folder\n\(identity)")
        case .chosen: return nil
        }
    }
}

/// How a complete file gets to its place. What fails throws a `RequestError` with the code `fileFailed`.
struct FilePlacement: Sendable {
    /// The place of the file, if it is free.
    let target: URL
    private let ifExists: ExistingFilePolicy

    /// - Parameter published: The file of an attempt whose value was not accepted. It is replaced where it is.
    init(target: URL, ifExists: ExistingFilePolicy, replacing published: PublishedFile?) {
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
    @discardableResult
    func check() throws -> Bool {
        guard target.isFileURL else {
            throw RequestError(.fileFailed, stage: .transfer, reason: "the destination's URL is not a file URL")
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
        let kind = old.st_mode & S_IFMT
        if ifExists == .uniqueName { return nil }
        if kind == S_IFDIR || ifExists == .fail {
            errno = kind == S_IFDIR ? EISDIR : EEXIST
            throw RequestError.fileFailed("made")
        }
        guard kind == S_IFREG || kind == S_IFLNK else {
            throw RequestError(
                .fileFailed, stage: .transfer, reason: "the destination is a pipe, a device or a socket")
        }
        guard kind == S_IFLNK || access(target.path, W_OK) == 0 else { throw RequestError.fileFailed("replaced") }
        return old
    }

    /// Makes the folder and its parents if they are missing.
    func makeFolder() throws {
        do {
            try FileManager.default.createDirectory(
                at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
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
    func move(_ file: HiddenFile) throws -> URL {
        let place = try name(file)
        // The file has its name, whatever this says. Some file systems cannot do it.
        let folder = open(target.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            _ = fsync(folder)
            close(folder)
        }
        return place
    }

    private func name(_ file: HiddenFile) throws -> URL {
        switch ifExists {
        case .replace:
            if let old = try replaced(), old.st_mode & S_IFMT == S_IFREG { file.takePermissions(of: old) }
            try file.replace(target.path)
            return target
        case .fail:
            if try file.take(target.path) { return target }
        case .uniqueName:
            let name = SafeFileName(plain: target.lastPathComponent)
            for number in 1...Self.mostNames {
                let place =
                    number == 1
                    ? target : target.deletingLastPathComponent().appendingPathComponent(name.variant(number))
                if try file.take(place.path) { return place }
            }
        }
        errno = EEXIST
        throw RequestError.fileFailed("put in its place")
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
