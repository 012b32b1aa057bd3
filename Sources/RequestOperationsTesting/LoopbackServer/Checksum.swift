public import Foundation

extension LoopbackServer {
    /// A fast 64-bit checksum of a body too large to keep, which the sender of the body can compute as well.
    ///
    /// It is FNV-1a taken over little-endian words of 64 bits (the last one filled up with zeroes), then over the number of
    /// bytes as one more word. How the bytes were cut into pieces does not matter. It is no protection against intent.
    public struct Checksum: Sendable, Hashable {
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
            // `while` loops over pointers: in a debug build an iterator would cost ten times as much, and bodies are GiB.
            guard let start = bytes.baseAddress else { return }
            let source = start.assumingMemoryBound(to: UInt8.self)
            var offset = 0
            while offset < bytes.count, byteCount % 8 != 0 {
                add(source[offset])
                offset += 1
            }
            var word: UInt64 = 0
            while offset + 8 <= bytes.count {
                withUnsafeMutableBytes(of: &word) { $0.baseAddress?.copyMemory(from: start + offset, byteCount: 8) }
                mix(UInt64(littleEndian: word))
                offset += 8
                byteCount += 8
            }
            while offset < bytes.count {
                add(source[offset])
                offset += 1
            }
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
            hash = (hash ^ word) &* 0x0000_0100_0000_01B3
        }
    }
}
