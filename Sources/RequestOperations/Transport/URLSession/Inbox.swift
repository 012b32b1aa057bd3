/// Bytes that have arrived and wait for the Task.
///
/// URLSession on Linux cannot be told to wait. So this keeps what the reader does not take in time: up to ``roomSize``
/// in memory, and the rest in a temporary file. A slow consumer then costs disk space, but no memory, and no bytes are
/// lost. (A body that goes to memory stays in memory. It has its own limit.)
struct Inbox {
    /// From this number of body bytes on, we no longer hold back a head to wait for the rest of the body.
    static let eagerSize: Int64 = 64 << 10
    /// How many bytes are kept in memory for a consumer or a file.
    static let roomSize = 1 << 20

    private var chunks: [Data] = []
    private var size = 0
    private(set) var file: TemporaryFile?
    /// The part of the file that has not been taken.
    private var unread = 0..<0

    /// Bytes taken out, in their order.
    struct Pieces {
        var chunks: [Data] = []
        var spilled: (file: TemporaryFile, range: Range<Int>)?
    }

    /// Whether the next bytes can stay in memory. They must not overtake the bytes in the file.
    var hasRoom: Bool {
        unread.isEmpty && size < Self.roomSize
    }

    mutating func append(_ data: Data) {
        chunks.append(data)
        size += data.count
    }

    mutating func spilled(_ count: Int, into file: TemporaryFile) {
        self.file = file
        unread = unread.lowerBound..<(unread.upperBound + count)
    }

    /// Takes everything. The bytes in memory came before the bytes in the file.
    mutating func take() -> Pieces? {
        guard size > 0 || !unread.isEmpty else { return nil }
        var pieces = Pieces(chunks: chunks)
        if let file, !unread.isEmpty { pieces.spilled = (file, unread) }
        chunks = []
        size = 0
        unread = unread.upperBound..<unread.upperBound
        return pieces
    }

    /// The first bytes. They are all in memory: bytes go to the file only when memory is full, and it holds more than a
    /// prefix.
    func prefix(_ count: Int) -> Data {
        var prefix = Data()
        for chunk in chunks where prefix.count < count { prefix.append(chunk.prefix(count - prefix.count)) }
        return prefix
    }

    mutating func takeBody() -> Data {
        defer { self = Inbox() }
        guard chunks.count > 1 else { return chunks.first ?? Data() }
        var body = Data(capacity: size)
        for chunk in chunks { body.append(chunk) }
        return body
    }
}
