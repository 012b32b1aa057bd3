import Foundation

/// Makes members of gzip (RFC 1952) whose bytes are stored as they are, for tests of what reads them.
enum Gzip {
    /// - Parameter fields: Whether the head has all the optional fields.
    static func member(_ content: Data, fields: Bool = false) -> Data {
        var member = Data([0x1F, 0x8B, 8, fields ? 0x1E : 0, 0, 0, 0, 0, 0, 3])
        if fields {
            // An extra field, a name and a comment, and the check sum of all that.
            member += Data([4, 0]) + Data("ABCD".utf8) + Data("name\u{0}comment\u{0}".utf8)
            member += bytes(UInt16(truncatingIfNeeded: checksum(member)))
        }
        return member + stored(content) + bytes(checksum(content)) + bytes(UInt32(content.count))
    }

    /// Blocks of RFC 1951 that are not compressed.
    private static func stored(_ content: Data) -> Data {
        var blocks = Data()
        var rest = content[...]
        repeat {
            let piece = rest.prefix(0xFFFF)
            rest = rest.dropFirst(piece.count)
            let count = UInt16(piece.count)
            blocks += Data([rest.isEmpty ? 1 : 0]) + bytes(count) + bytes(~count) + piece
        } while !rest.isEmpty
        return blocks
    }

    private static func bytes(_ number: some FixedWidthInteger) -> Data {
        withUnsafeBytes(of: number.littleEndian) { Data($0) }
    }

    /// CRC-32 (RFC 1952, section 8).
    static func checksum(_ data: Data) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for byte in data {
            sum ^= UInt32(byte)
            for _ in 0..<8 {
                let isOdd = sum & 1 == 1
                sum >>= 1
                if isOdd { sum ^= 0xEDB8_8320 }
            }
        }
        return ~sum
    }
}
