/// Bytes that have arrived and wait for the Task.
///
/// URLSession on Linux cannot be told to wait. What its reader does not take in time is kept here up to ``roomSize`` in
/// memory and beyond it in a temporary file, so that a slow consumer costs disk space but neither memory nor bytes. (A
/// body that goes to memory stays in memory: it has a limit of its own.)
struct Inbox {
    /// From how many bytes on a head is not held back for the rest of the body.
    static let eagerSize: Int64 = 64 << 10
    /// How much is kept in memory for a consumer or a file.
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

    /// Whether the next bytes can stay in memory: they must not overtake those in the file.
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

    /// Takes all that is there: what is in memory came before what is in the file.
    mutating func take() -> Pieces? {
        guard size > 0 || !unread.isEmpty else { return nil }
        var pieces = Pieces(chunks: chunks)
        if let file, !unread.isEmpty { pieces.spilled = (file, unread) }
        chunks = []
        size = 0
        unread = unread.upperBound..<unread.upperBound
        return pieces
    }

    /// The first bytes; those in a file come after a full memory, which holds more than any prefix.
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
