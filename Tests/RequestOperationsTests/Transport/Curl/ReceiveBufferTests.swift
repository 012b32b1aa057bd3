#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct ReceiveBufferTests {
        private func fill(_ buffer: ReceiveBuffer, pieces: [Int]) -> Data {
            var expected = Data()
            for (number, count) in pieces.enumerated() {
                let piece = Data(repeating: UInt8(number % 256), count: count)
                expected += piece
                piece.withUnsafeBytes { if let start = $0.baseAddress { buffer.append(start, count: count) } }
            }
            return expected
        }

        @Test(
            arguments: [0, 1, 100, 100_000, 5_000_000],
            [[1], [1024], [7000, 20_000, 100_000], [16_384, 2_000_000, 3], [2_000_000, 3_000_000, 5_000_000]])
        func `What is appended comes out, whatever was expected`(expected: Int, pieces: [Int]) {
            let buffer = ReceiveBuffer(expecting: expected)
            let content = fill(buffer, pieces: pieces)
            #expect(buffer.count == content.count)
            #expect(buffer.takeData() == content)
            #expect(buffer.isEmpty)
        }

        @Test func `A buffer can be filled again after its bytes were taken`() {
            let buffer = ReceiveBuffer(expecting: 10)
            let first = fill(buffer, pieces: [50_000])
            #expect(buffer.takeData() == first)
            let second = fill(buffer, pieces: [3, 4])
            #expect(buffer.takeData() == second)
        }

        @Test func `A body can be changed by whoever got it`() {
            let buffer = ReceiveBuffer(expecting: 50_000)
            var content = fill(buffer, pieces: [50_000])
            var data = buffer.takeData()
            data.append(contentsOf: [1, 2, 3])
            data[0] = 9
            content.append(contentsOf: [1, 2, 3])
            content[0] = 9
            #expect(data == content)
        }

        @Test func `Blocks of the pool are used again`() {
            // Others may take it meanwhile; that one comes back is enough.
            let isUsedAgain = (0..<1000).contains { _ in
                // A pool that is full takes none back.
                for power in 10...20 where power != 19 { free(BodyMemory.take(atLeast: 1 << power).0) }
                let (block, capacity) = BodyMemory.take(atLeast: 300_000)
                #expect(capacity == 512 << 10)
                BodyMemory.give(block)
                // Of the system the next of its size would be that very block.
                let other = malloc(capacity)
                let (next, _) = BodyMemory.take(atLeast: 300_000)
                defer {
                    free(other)
                    BodyMemory.give(next)
                }
                return next == block
            }
            #expect(isUsedAgain)
        }
    }
#endif
