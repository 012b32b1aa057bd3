/// A small file beside a partial file or an upload. It tells a later operation where to continue.
protocol SideFile: Codable {
    /// What it is the side file of, for errors.
    static var kind: String { get }
}

extension SideFile {
    /// Reads a side file. `nil` if it is missing, unreadable, or written by another user, who could divert the bytes. The
    /// operation then begins again.
    init?(at path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            let data = try? handle.readToEnd(), let record = try? JSONDecoder().decode(Self.self, from: data)
        else { return nil }
        self = record
    }

    /// Writes the side file in one step. Only its owner may read it.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        let place = URL(fileURLWithPath: path)
        let hidden = HiddenFile.uniquePath(in: place.deletingLastPathComponent(), suffix: ".\(place.pathExtension)")
        do {
            let file = try HiddenFile(madeAt: hidden, isPrivate: true)
            try file.append(try encoder.encode(self))
            try file.endWriting()
            try file.replace(path)
        } catch {
            unlink(hidden)
            throw RequestError(
                .fileFailed, stage: .transfer, underlying: (error as? RequestError)?.underlying ?? error,
                reason: "the side file of the \(Self.kind) cannot be written")
        }
    }
}

/// What a partial file is a part of. It is kept in memory, and in the side file if another process may go on.
struct PartialRecord: SideFile, Sendable, Hashable {
    static let kind = "download"

    /// A digest of the URL or key, because a URL may hold secrets.
    let identity: String
    /// The scheme, host, port and path, for people who look at the file.
    let location: String
    /// The validator of the response; `nil` if its bytes cannot be used again.
    let validator: StrongValidator?
    /// The length of the whole file, if it is known.
    var total: Int64?
    /// The name that the response suggested. A later response to a range request need not suggest it again.
    let name: String?
    /// Where the parts begin that lie in files of their own; `nil` if there are none.
    var segments: [Int64]?

    /// The identity of a URL or key.
    static func identity(of subject: String) -> String { SHA2.digest(of: subject).hexadecimal }

    /// The request for what a partial file of some size lacks; `nil` if it must begin again.
    func rangeRequest(from size: Int64, of identity: String) -> RangeRequest? {
        guard let validator, identity == self.identity, size > 0, size <= total ?? .max else { return nil }
        return RangeRequest(offset: size, validator: validator, total: total)
    }
}

extension DownloadOperation {
    /// Removes partial files that no download has taken over, their side files, and the side files of uploads.
    ///
    /// Files that a download in any process is writing to are kept. The call blocks on the disk.
    ///
    /// - Parameters:
    ///   - folder: The folder of the destinations.
    ///   - age: The least time since the last byte was written.
    /// - Returns: How many partial files were removed.
    /// - Throws: A ``RequestError`` with the code ``RequestError/Code/fileFailed`` if the folder cannot be read.
    @discardableResult
    public static func removeStalePartials(in folder: URL, olderThan age: Duration) throws -> Int {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw RequestError(
                .fileFailed, stage: .process, underlying: error, reason: "the folder cannot be read")
        }
        let limit = Date(timeIntervalSinceNow: -Double(age.nanoseconds) / 1e9)
        return remove(names, in: folder, before: limit, lostBefore: limit, uploadsBefore: limit)
    }

    /// Removes partial files that no download can take over, at once, and others a week after their last byte.
    ///
    /// Files that a download in any process is writing to are kept. The call blocks on the disk.
    package static func removeAbandonedPartials(in folder: URL) {
        // A folder that is missing or cannot be read has none of this user's.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let aWeekAgo = Date(timeIntervalSinceNow: -7 * 24 * 3600)
        _ = remove(names, in: folder, before: aWeekAgo, lostBefore: .distantFuture, uploadsBefore: .distantPast)
    }

    /// Removes partial files that a download could take over, those that none can, and side files that belong to none. Each
    /// kind has its own limit of age. Returns how many partial files were removed.
    private static func remove(
        _ names: [String], in folder: URL, before limit: Date, lostBefore lost: Date, uploadsBefore upload: Date
    ) -> Int {
        let places = names.compactMap { PartialPlace($0, in: folder) }
        let count = places.count { place in
            let limit = PartialRecord(at: place.whole.record) == nil ? lost : limit
            // A file that cannot be opened or is locked belongs to somebody.
            guard let file = try? PartialFile.existing(at: place, waiting: false), isFile(place.file, before: limit)
            else { return false }
            file.remove()
            return true
        }
        let needed = Set(places.map(\.record))
        for name in names where name.hasPrefix(HiddenFile.prefix) {
            let path = folder.appendingPathComponent(name).path
            let isRecord = name.hasSuffix(PartialPlace.recordSuffix) && !needed.contains(path)
            guard isRecord || name.hasSuffix(TusRecord.suffix), isFile(path, before: isRecord ? lost : upload) else {
                continue
            }
            unlink(path)
        }
        return count
    }

    /// Whether a file was last written before a time. One that is gone, or that cannot be read, belongs to somebody.
    private static func isFile(_ path: String, before limit: Date) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date).map { $0 <= limit } ?? false
    }
}
