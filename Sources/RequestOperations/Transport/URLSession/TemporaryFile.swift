/// A file of ours in the temporary folder. Only this user can read it. It is removed when the last reference goes.
///
/// One thread at a time appends to it. Another thread can read any part of it.
// Unchecked: each handle is used by one side only, and each has its own offset.
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
        // It does no harm if somebody has removed the file already.
        try? FileManager.default.removeItem(at: url)
    }

    func append(_ data: Data) throws {
        try writer.write(contentsOf: data)
    }

    /// Reads a part of the file, in pieces of at most 64 KiB.
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
