/// What a partial file is a part of. It is kept in memory, and in the side file if another process may go on.
struct PartialRecord: Sendable, Hashable, Codable {
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

    /// Reads a side file; `nil` if there is none or it cannot be read. The download then begins again.
    init?(at place: PartialPlace) {
        guard let data = SideFile.content(of: place.record),
            let record = try? JSONDecoder().decode(PartialRecord.self, from: data)
        else { return nil }
        self = record
    }

    init(identity: String, location: String, validator: StrongValidator?, total: Int64?, name: String?) {
        self.identity = identity
        self.location = location
        self.validator = validator
        self.total = total
        self.name = name
    }

    /// Writes the side file in one step.
    ///
    /// - Throws: A `RequestError` with the code `fileFailed`.
    func write(to place: PartialPlace) throws {
        try SideFile.write(try SideFile.encoded(self, of: "download"), to: place.record, of: "download")
    }

    /// The request for what a partial file of some size lacks; `nil` if it must begin again.
    func rangeRequest(from size: Int64, of identity: String) -> RangeRequest? {
        guard let validator, identity == self.identity, size > 0, size <= total ?? .max else { return nil }
        return RangeRequest(offset: size, validator: validator, total: total)
    }
}

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

/// Partial files that no download takes over.
enum StalePartials {
    /// Removes those in a folder that are older than an age. Returns how many.
    static func remove(in folder: URL, olderThan age: Duration) throws -> Int {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            throw RequestError(
                .fileFailed, stage: .process, underlying: error, reason: "the folder cannot be read")
        }
        let limit = Date(timeIntervalSinceNow: -Double(age.nanoseconds) / 1e9)
        let partials = names.compactMap { PartialPlace($0, in: folder) }
        let count = partials.count { removes($0, before: limit) }
        removeSideFiles(names, of: partials, in: folder, before: limit, ofUploadsBefore: limit)
        return count
    }

    /// How long a partial file that another download can take over is kept.
    private static let keptTime: TimeInterval = 7 * 24 * 3600

    /// Removes those in a folder that no download can take over, and others that are old.
    static func removeAbandoned(in folder: URL) {
        // A folder that is missing or cannot be read has none of this user's.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let limit = Date(timeIntervalSinceNow: -keptTime)
        let partials = names.compactMap { PartialPlace($0, in: folder) }
        for place in partials {
            let canBeTakenOver = PartialRecord(at: place.whole) != nil
            _ = removes(place, before: canBeTakenOver ? limit : .distantFuture)
        }
        removeSideFiles(names, of: partials, in: folder, before: .distantFuture, ofUploadsBefore: .distantPast)
    }

    /// Removes side files of uploads, and those of downloads that have no partial file. They do not count.
    private static func removeSideFiles(
        _ names: [String], of partials: [PartialPlace], in folder: URL, before limit: Date, ofUploadsBefore upload: Date
    ) {
        let needed = Set(partials.map(\.record))
        for name in names where name.hasPrefix(PartialPlace.prefix) {
            let path = folder.appendingPathComponent(name).path
            let isRecord = name.hasSuffix(PartialPlace.recordSuffix) && !needed.contains(path)
            guard isRecord || name.hasSuffix(TusRecord.suffix) else { continue }
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            // One that is gone, or that cannot be read, belongs to somebody.
            guard let modified = attributes?[.modificationDate] as? Date, modified <= (isRecord ? limit : upload)
            else { continue }
            unlink(path)
        }
    }

    private static func removes(_ place: PartialPlace, before limit: Date) -> Bool {
        // A file that cannot be opened or is locked belongs to somebody.
        guard let file = try? PartialFile.existing(at: place, waiting: false), let modified = file.modified,
            modified <= limit
        else {
            return false
        }
        file.remove()
        return true
    }
}
