import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct SegmentLayoutTests {
    private typealias Piece = SegmentLayout.Piece

    private static let mebibyte: Int64 = 1 << 20

    /// The pieces, in MiB.
    private func pieces(after parts: (start: Int64, end: Int64)..., of total: Int64, atMost count: Int) -> [Piece] {
        SegmentLayout.pieces(
            missingIn: parts.map { $0.start * Self.mebibyte..<$0.end * Self.mebibyte }, of: total * Self.mebibyte,
            atMost: count)
    }

    private func piece(_ start: Int64, _ range: Range<Int64>) -> Piece {
        Piece(start: start * Self.mebibyte, range: range.lowerBound * Self.mebibyte..<range.upperBound * Self.mebibyte)
    }

    @Test func `What is missing is split evenly, and the first piece goes on with the beginning`() {
        #expect(
            pieces(after: (0, 1), of: 13, atMost: 4) == [
                piece(0, 1..<4), piece(4, 4..<7), piece(7, 7..<10), piece(10, 10..<13),
            ])
    }

    @Test func `No piece is smaller than a MiB`() {
        #expect(pieces(after: (0, 1), of: 3, atMost: 4) == [piece(0, 1..<2), piece(2, 2..<3)])
        #expect(
            SegmentLayout.pieces(missingIn: [0..<5], of: 9, atMost: 4) == [
                .init(start: 0, range: 5..<9)
            ])
    }

    @Test func `Each part that is not complete goes on`() {
        #expect(
            pieces(after: (0, 2), (4, 5), (8, 8), of: 10, atMost: 3) == [
                piece(0, 2..<4), piece(4, 5..<8), piece(8, 8..<10),
            ])
    }

    @Test func `A part that is complete is left alone`() {
        #expect(pieces(after: (0, 4), (4, 8), (8, 9), of: 10, atMost: 1) == [piece(8, 9..<10)])
    }

    @Test func `The largest gap is split first`() {
        #expect(
            pieces(after: (0, 1), (3, 4), of: 12, atMost: 3) == [
                piece(0, 1..<3), piece(3, 4..<8), piece(8, 8..<12),
            ])
    }

    @Test func `There is a piece for each gap even if there are more than requests`() {
        #expect(pieces(after: (0, 1), (2, 3), (4, 5), of: 6, atMost: 1).count == 3)
    }

    @Test func `Nothing is missing of a file that is complete`() {
        #expect(pieces(after: (0, 4), of: 4, atMost: 4) == [])
        #expect(pieces(after: (0, 2), (2, 4), of: 4, atMost: 4) == [])
    }

    @Test func `A part within the one before does not go on`() {
        #expect(pieces(after: (0, 6), (2, 4), of: 8, atMost: 1) == [piece(6, 6..<8)])
    }

    @Test func `The pieces are what is missing, each byte once`() {
        var random = SplitMix64(seed: 7)
        for _ in 1...200 {
            let total = Int64.random(in: 1...20, using: &random) * Self.mebibyte + 7
            let bounds = (0..<4).map { _ in Int64.random(in: 0...total, using: &random) }.sorted()
            let parts = [(0, bounds[0]), (bounds[1], bounds[2]), (bounds[3], bounds[3])]
            let pieces = SegmentLayout.pieces(
                missingIn: parts.map { $0.0..<$0.1 }, of: total,
                atMost: Int.random(in: 1...6, using: &random))
            let ends = parts.filter { $0.0 < $0.1 }.map { $0.0..<$0.1 } + pieces.map(\.range)
            var reached: Int64 = 0
            for range in ends.sorted(by: { $0.lowerBound < $1.lowerBound }) {
                #expect(range.lowerBound == reached)
                reached = range.upperBound
            }
            #expect(reached == total)
        }
    }
}
