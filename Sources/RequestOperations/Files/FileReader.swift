/// Reads a file, or a part of it, in pieces on a thread of Dispatch, because a file system may block.
// Unchecked: the handle and the rest are used on the serial queue only.
final class FileReader: @unchecked Sendable {
    private let file: URL
    private let queue = DispatchQueue(label: "RequestOperations.FileReader")
    private var handle: FileHandle?
    private let offset: UInt64
    /// How many bytes are left to read; `nil` means up to the end.
    private var rest: Int64?

    private static let pieceSize = 256 << 10

    /// - Parameters:
    ///   - file: The file. It is opened when its first byte is needed.
    ///   - part: The bytes to read. If the file has fewer, the reader throws. `nil`, the default, means all.
    init(_ file: URL, part: Range<Int64>? = nil) {
        self.file = file
        offset = UInt64(part?.lowerBound ?? 0)
        rest = part.map { $0.upperBound - $0.lowerBound }
    }

    var reader: BodyStream.Reader {
        BodyStream.Reader { try await self.next() }
    }

    private func next() async throws -> Data? {
        try await queue.run { try self.read() }
    }

    private func read() throws -> Data? {
        let wanted = Int(min(Int64(Self.pieceSize), rest ?? .max))
        guard wanted > 0 else { return nil }
        let piece: Data?
        do {
            let handle = try opened()
            piece = try handle.read(upToCount: wanted)
            if piece?.isEmpty ?? true { try handle.close() }
        } catch {
            throw RequestError(.unencodableBody, stage: .transfer, underlying: error, reason: "a file cannot be read")
        }
        guard let piece, !piece.isEmpty else {
            guard rest == nil else {
                throw RequestError(
                    .unencodableBody, stage: .transfer, reason: "the body's file became shorter while it was sent")
            }
            return nil
        }
        rest = rest.map { $0 - Int64(piece.count) }
        return piece
    }

    private func opened() throws -> FileHandle {
        if let handle { return handle }
        let handle = try FileHandle(forReadingFrom: file)
        self.handle = handle
        if offset > 0 { try handle.seek(toOffset: offset) }
        return handle
    }
}
