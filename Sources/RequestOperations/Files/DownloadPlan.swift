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
