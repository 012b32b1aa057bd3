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
        return names.compactMap { PartialPlace($0, in: folder) }.count { removes($0, before: limit) }
    }

    private static func removes(_ place: PartialPlace, before limit: Date) -> Bool {
        // A file that cannot be opened or is locked belongs to somebody.
        guard let file = try? PartialFile.existing(at: place), let modified = file.modified, modified <= limit else {
            return false
        }
        file.remove()
        return true
    }
}
