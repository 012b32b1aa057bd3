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
