import Foundation

/// A checksum against damage of a file, not against an attacker: FNV-1a with 64 bits, over words of eight bytes.
struct Checksum {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// Adds a number.
    mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0x100_0000_01B3
        // The product only carries upwards, so the high half is mixed into the low one.
        value ^= value >> 32
    }

    /// Adds bytes and their count.
    mutating func add(_ data: Data) {
        add(UInt64(data.count))
        data.withUnsafeBytes { bytes in
            let whole = bytes.count / 8 * 8
            for offset in stride(from: 0, to: whole, by: 8) {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
            for offset in whole..<bytes.count { add(UInt64(bytes[offset])) }
        }
    }

    /// Adds a text, or the fact that there is none.
    mutating func add(_ text: String?) {
        guard let text else { return add(UInt64.max) }
        add(Data(text.utf8))
    }
}
