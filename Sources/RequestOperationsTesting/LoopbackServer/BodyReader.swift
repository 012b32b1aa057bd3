import Foundation

/// Reads the body of one request from a wire. It keeps the body up to a limit, and counts and checksums all of it.
struct BodyReader {
    private(set) var kept = Data()
    private(set) var checksum = LoopbackServer.Checksum()
    private(set) var trailers: LoopbackServer.Fields = [:]
    private(set) var isComplete = false
    private let limit: Int

    /// The longest total length of all trailers, in bytes.
    private static let trailerLimit = 1 << 16

    /// Makes a reader that keeps bodies of at most `limit` bytes.
    init(keepingUpTo limit: Int) {
        self.limit = limit
    }

    /// Reads to the end of the body.
    mutating func read(_ framing: RequestHead.BodyFraming, from wire: Wire) throws(Interruption) {
        switch framing {
        case .none: break
        case .length(let count): try readBytes(count, from: wire)
        case .chunked: try readChunks(from: wire)
        }
        isComplete = true
    }

    private mutating func readChunks(from wire: Wire) throws(Interruption) {
        while true {
            let size = try chunkSize(try readLine(from: wire))
            if size == 0 { break }
            try readBytes(size, from: wire)
            guard try readLine(from: wire).isEmpty else { throw .refused(status: 400) }
        }
        var left = Self.trailerLimit
        while true {
            let line = try readLine(from: wire)
            if line.isEmpty { return }
            left -= line.count + 2
            guard left >= 0 else { throw .refused(status: 431) }
            let field = try RequestHead.field(line)
            trailers.append(name: field.name, value: field.value)
        }
    }

    private mutating func readBytes(_ count: Int, from wire: Wire) throws(Interruption) {
        try wire.readBytes(count) { piece in
            checksum.update(piece)
            if checksum.byteCount <= limit {
                kept.append(contentsOf: piece)
            } else if !kept.isEmpty {
                kept = Data()
            }
        }
    }

    private func readLine(from wire: Wire) throws(Interruption) -> [UInt8] {
        guard let line = try wire.readLine(limit: 8192) else { throw .refused(status: 400) }
        return line
    }

    /// Reads the size before a chunk: hexadecimal digits, then perhaps extensions, which are ignored.
    private func chunkSize(_ line: [UInt8]) throws(Interruption) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        // After the space there may only be an extension (RFC 9112, section 7.1.1).
        let rest = line.dropFirst(digits.count).first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard rest == nil || rest == UInt8(ascii: ";") else { throw .refused(status: 400) }
        guard !digits.isEmpty, digits.count <= 15, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .refused(status: 400) }
        return size
    }
}
