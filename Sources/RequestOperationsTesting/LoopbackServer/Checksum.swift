public import Foundation

extension LoopbackServer {
    /// A fast 64-bit checksum of a body that is too large to keep. The sender of the body can compute it as well.
    ///
    /// It is FNV-1a over little-endian words of 64 bits, the last one filled up with zeroes, and then over the number of
    /// bytes as one more word. The way in which the bytes were cut into pieces does not matter. It does not protect
    /// against intent.
    public struct Checksum: Sendable, Hashable {
        private static let prime: UInt64 = 0x0000_0100_0000_01B3

        private var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        private var partialWord: UInt64 = 0

        /// The number of bytes seen.
        public private(set) var byteCount = 0

        /// The checksum of no bytes yet.
        public init() {}

        /// The checksum of `data`.
        public init(_ data: Data) {
            data.withUnsafeBytes { update($0) }
        }

        /// The value over all bytes seen so far; more may follow.
        public var value: UInt64 {
            var finished = self
            if byteCount % 8 != 0 { finished.mix(partialWord) }
            finished.mix(UInt64(byteCount))
            return finished.hash
        }

        /// Takes in the bytes that follow.
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

        /// Takes in whole words, by way of a copy that is aligned as words must be.
        private mutating func mix(_ bytes: UnsafeRawBufferPointer) {
            let wordCount = bytes.count / 8
            withUnsafeTemporaryAllocation(of: UInt64.self, capacity: wordCount) { words in
                UnsafeMutableRawBufferPointer(words).copyMemory(from: bytes)
                guard let word = words.baseAddress else { return }
                // A local variable and a `while` loop: a debug build, too, has to sum GiB in seconds.
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
