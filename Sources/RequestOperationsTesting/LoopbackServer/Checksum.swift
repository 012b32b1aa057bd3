public import Foundation

extension LoopbackServer {
    /// A fast 64-bit checksum of a body that is too large to keep. The sender of the body can compute it too.
    ///
    /// It is FNV-1a over little-endian 64-bit words, with the last word filled up with zeroes. The number of bytes
    /// follows as one more word. The size of the pieces in which the bytes arrive does not matter. It does not protect
    /// against deliberate changes.
    public struct Checksum: Sendable, Hashable {
        private static let prime: UInt64 = 0x0000_0100_0000_01B3

        private var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        private var partialWord: UInt64 = 0

        /// The number of bytes seen.
        public private(set) var byteCount = 0

        /// Makes the checksum of no bytes.
        public init() {}

        /// Makes the checksum of `data`.
        public init(_ data: Data) {
            data.withUnsafeBytes { update($0) }
        }

        /// The value over all bytes so far. More bytes may follow.
        public var value: UInt64 {
            var finished = self
            if byteCount % 8 != 0 { finished.mix(partialWord) }
            finished.mix(UInt64(byteCount))
            return finished.hash
        }

        /// Adds the bytes that follow.
        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            let head = min(bytes.count, (8 - byteCount % 8) % 8)
            for byte in bytes[..<head] { add(byte) }
            var rest = bytes[head...]
            while rest.count >= 8 {
                let piece = rest.prefix(min(1 << 16, rest.count & ~7))
                mix(UnsafeRawBufferPointer(rebasing: piece))
                rest = rest.dropFirst(piece.count)
            }
            for byte in rest { add(byte) }
        }

        /// Adds whole words. It copies them first, since words must be aligned.
        private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
            let wordCount = bytes.count / 8
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount) { words in
                UnsafeMutableRawBufferPointer(words).copyMemory(from: bytes)
                guard let word = words.baseAddress else { return }
                // A local variable and a `while` loop are fast in a debug build too. It must checksum gigabytes in
                // seconds.
                let prime = Checksum.prime
                var sum = hash
                var index = 0
                while index < wordCount {
                    sum = (sum ^ UInt64(littleEndian: word[index])) &* prime
                    index += 1
                }
                hash = sum
            }
            byteCount += bytes.count
        }

        private mutating func add(_ byte: UInt8) {
            partialWord |= UInt64(byte) << UInt64(byteCount % 8 * 8)
            byteCount += 1
            if byteCount % 8 == 0 {
                mix(partialWord)
                partialWord = 0
            }
        }

        private mutating func mix(_ word: UInt64) {
            hash = (hash ^ word) &* Checksum.prime
        }
    }
}
