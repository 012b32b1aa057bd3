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
    /// Called once for each response with the whole file, after its head was accepted, on a queue of the download. What it
    /// throws fails the attempt.
    case chosen(@Sendable (_ head: ResponseHead) throws -> URL)
}

/// What happens if there is a file already where a download should go.
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

/// When a download goes on where it broke off.
///
/// It does so only if the server names the state of the file by a strong validator (RFC 9110, section 8.8.1). A response to
/// such a request is asked for without compression (`Accept-Encoding: identity`), unless the request has the field. The file
/// of a server that compresses all the same is compressed, and is not resumed.
public struct DownloadResumption: Sendable, Hashable {
    enum Scope: Sendable, Hashable {
        case never
        case attempts
        case processes(key: String?)
    }

    let scope: Scope

    /// Each attempt begins at the first byte.
    public static let never = Self(scope: .never)

    /// A retry of the operation goes on where the attempt before it broke off. The default. If the operation fails or is
    /// cancelled, nothing stays in the folder. A process that is killed leaves a partial file, which
    /// ``DownloadOperation/removeStalePartials(in:olderThan:)`` removes.
    public static let betweenAttempts = Self(scope: .attempts)

    /// A later operation goes on as well, also in another process.
    ///
    /// An operation that fails or is cancelled, or a process that is killed, leaves a partial file and a side file in the
    /// folder of the destination. Their hidden names begin with `.RequestOperations-`. An operation with the same destination
    /// and URL takes them over. One process at a time can do so: a second operation fails with
    /// ``RequestError/Code/fileFailed``. ``DownloadOperation/removeStalePartials(in:olderThan:)`` removes those that no one
    /// takes over.
    ///
    /// With ``DownloadDestination/chosen(_:)`` the folder is not known before the response. So this is then the same as
    /// ``betweenAttempts``.
    public static let acrossProcesses = Self(scope: .processes(key: nil))

    /// A later operation with the same destination and key goes on, as with ``acrossProcesses``.
    ///
    /// - Parameter key: Names the file in place of the URL. For a URL provider, the URL without its query is the default. Give
    ///   a key if the query of a provided URL tells files apart: otherwise one could go on from the bytes of another.
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

    /// The digests that the file was found to have: the caller's, and the server's `Repr-Digest`.
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
    var segments = 1

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
        let isLink: Bool
        if case .folder = destination {
            // Others may make links in the folder. They must not decide where the file goes.
            isLink = false
        } else {
            isLink = lstat(file.path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
        }
        return FilePlacement(
            target: isLink ? file.resolvingSymlinksInPath() : file, ifExists: ifExists, replacing: published)
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

    /// The key that the caller gave for the file.
    var key: String? {
        if case .processes(let key) = resumption.scope { key } else { nil }
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
