#if canImport(CRequestOperationsCurl) && canImport(Glibc)
    import Foundation
    import Testing

    @testable import RequestOperations

    struct GzipDecoderTests {
        struct Broken: Error {}

        /// What a decoder makes of pieces of so many bytes, and whether it may end there. Each piece that it makes is refused
        /// once, as by a consumer that is not ready.
        private func decode(_ input: Data, inPiecesOf size: Int) throws -> (Data, isAtEnd: Bool) {
            let decoder = try #require(GzipDecoder())
            var output = Data()
            var rest = input[...]
            while !rest.isEmpty {
                let piece = Data(rest.prefix(size))
                rest = rest.dropFirst(size)
                try piece.withUnsafeBytes { bytes in
                    while case .piece(let made) = try step(decoder, bytes) {
                        let first = Data(made)
                        guard case .piece(let again) = decoder.next(bytes), Data(again) == first else { throw Broken() }
                        output += first
                        decoder.takePiece()
                    }
                }
            }
            return (output, decoder.isAtEnd)
        }

        private func step(_ decoder: GzipDecoder, _ bytes: UnsafeRawBufferPointer) throws -> GzipDecoder.Step {
            let step = decoder.next(bytes)
            if case .broken = step { throw Broken() }
            return step
        }

        private static let hello = Gzip.member(Data("hello".utf8))
        private static let large = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        private static let whole: [(Data, Data)] = [
            (Data(), Data()),
            (hello, Data("hello".utf8)),
            (Gzip.member(Data()), Data()),
            (Gzip.member(Data("hello".utf8), fields: true), Data("hello".utf8)),
            (hello + hello, Data("hellohello".utf8)),
            (hello + Gzip.member(Data()) + Gzip.member(Data("x".utf8), fields: true), Data("hellox".utf8)),
            (Gzip.member(large) + hello + Gzip.member(large), large + Data("hello".utf8) + large),
            (hello + Data(count: 512), Data("hello".utf8)),
            (hello + Data("and more".utf8), Data("hello".utf8)),
            (hello + hello + Data("\r\n".utf8), Data("hellohello".utf8)),
            (hello + Data([0x1F]), Data("hello".utf8)),
            (hello + Data([0x1F, 0x8B]), Data("hello".utf8)),
            (hello + Data([0x1F, 0x8B, 9]) + hello, Data("hello".utf8)),
            (hello + Data([0]) + hello, Data("hello".utf8)),
        ]

        @Test(arguments: [1, 2, 7, 16 << 10, 1 << 20])
        func `Members that follow one another are one body, and what follows them is left out`(size: Int) throws {
            for (input, output) in Self.whole {
                let (made, isAtEnd) = try decode(input, inPiecesOf: size)
                #expect(made == output && isAtEnd)
            }
        }

        private static let broken: [Data] = [
            Data("hello".utf8), Data([0x1F, 0x8B, 9]) + hello.dropFirst(3),
            Data([0x1F, 0x8B, 8, 0xE0]) + hello.dropFirst(4),
            Data(hello.dropLast(8)) + Data(count: 8), Data(hello.dropLast()) + Data([1]),
            hello + Data(hello.dropLast(8)) + Data(count: 8), hello + Data([0x1F, 0x8B, 8, 0xFF]) + Data(count: 20),
            Data(hello.prefix(10)) + Data([7, 0, 0]), Data([0]) + hello, Data(count: 20),
        ]

        @Test(arguments: broken, [1, 1000])
        func `What is no gzip is broken`(input: Data, size: Int) {
            #expect(throws: Broken.self) { try decode(input, inPiecesOf: size) }
        }

        @Test(arguments: [1, 2, 5, 10, 14, 15, 20, 22])
        func `A member without its end is no end`(count: Int) throws {
            #expect(try decode(Data(Self.hello.prefix(count)), inPiecesOf: 3).isAtEnd == false)
            let second = try decode(Self.hello + Self.hello.prefix(count), inPiecesOf: 3)
            // Two bytes may as well be none of a member.
            #expect(second.isAtEnd == (count < 3))
        }
    }
#endif
