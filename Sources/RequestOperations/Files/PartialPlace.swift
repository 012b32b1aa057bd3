/// Where a file grows until it is complete: beside its destination, under a hidden name.
struct PartialPlace: Sendable, Hashable {
    /// The folder of the destination.
    let folder: URL
    private let stem: String

    static let prefix = ".RequestOperations-"
    static let partialSuffix = ".partial"
    static let recordSuffix = ".resume"

    /// A place that nothing else uses.
    static func unique(in folder: URL) -> PartialPlace {
        PartialPlace(folder: folder, stem: UUID().uuidString)
    }

    /// The place that every download of the same thing to the same destination uses.
    ///
    /// - Parameter subject: Tells the thing and the destination apart from all others in the folder.
    static func shared(in folder: URL, for subject: String) -> PartialPlace {
        PartialPlace(folder: folder, stem: String(SHA2.digest(of: subject).hexadecimal.prefix(32)))
    }

    /// The place of a part of this file that begins at a byte.
    func segment(from start: Int64) -> PartialPlace {
        PartialPlace(folder: folder, stem: "\(stem).\(start)")
    }

    /// The place of the partial file that this one belongs to, if this one is a part. Otherwise this place itself.
    var whole: PartialPlace {
        // A stem itself is a UUID or a digest.
        PartialPlace(folder: folder, stem: String(stem.prefix { $0 != "." }))
    }

    private init(folder: URL, stem: String) {
        self.folder = folder
        self.stem = stem
    }

    /// The place of a partial file in a folder; `nil` if the name is not that of one.
    init?(_ name: String, in folder: URL) {
        guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.partialSuffix) else { return nil }
        self.init(folder: folder, stem: String(name.dropFirst(Self.prefix.count).dropLast(Self.partialSuffix.count)))
    }

    /// The partial file.
    var file: String { folder.appendingPathComponent(Self.prefix + stem + Self.partialSuffix).path }

    /// The side file, which says what the partial file is a part of.
    var record: String { folder.appendingPathComponent(Self.prefix + stem + Self.recordSuffix).path }
}
