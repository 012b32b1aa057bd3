/// A file of our own in the temporary folder, readable by this user only, removed when the last reference goes.
///
/// Written at its end by one thread at a time, read anywhere by another.
// Unchecked: each handle is used by one side only, and the two have offsets of their own.
final class TemporaryFile: @unchecked Sendable {
    let url: URL
    private let writer: FileHandle
    private let reader: FileHandle

    /// Makes an empty file.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("RequestOperations-\(UUID().uuidString)")
        guard
            FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: url.path]) }
        writer = try FileHandle(forWritingTo: url)
        reader = try FileHandle(forReadingFrom: url)
    }

    deinit {
        // A file that somebody else removed already is as good.
        try? FileManager.default.removeItem(at: url)
    }

    func append(_ data: Data) throws {
        try writer.write(contentsOf: data)
    }

    /// Reads a part, at most 64 KiB at a time.
    func read(_ range: Range<Int>, _ body: (Data) async throws -> Void) async throws {
        var offset = range.lowerBound
        while offset < range.upperBound {
            try reader.seek(toOffset: UInt64(offset))
            guard let piece = try reader.read(upToCount: min(64 << 10, range.upperBound - offset)), !piece.isEmpty
            else {
                throw CocoaError(.fileReadCorruptFile, userInfo: [NSFilePathErrorKey: url.path])
            }
            offset += piece.count
            try await body(piece)
        }
    }
}
