import Testing

@testable import RequestOperations

@Suite struct BoundarySearchTests {
    private static let delimiter = Data("\r\n--boundary".utf8)

    private func finds(in pieces: [Data]) -> Bool {
        var search = BoundarySearch(for: Self.delimiter)
        return pieces.contains { search.finds(in: $0) }
    }

    @Test func itIsFoundWhereverTwoPiecesMeet() {
        let content = Data("abc".utf8) + Self.delimiter + Data("def".utf8)
        for cut in 0...content.count {
            #expect(finds(in: [content.prefix(cut), content.dropFirst(cut)]))
        }
    }

    @Test func itIsFoundInPiecesOfAnySize() {
        let content = Data(repeating: 0x2D, count: 100) + Self.delimiter
        for size in 1...20 {
            let pieces = stride(from: 0, to: content.count, by: size).map { content.dropFirst($0).prefix(size) }
            #expect(finds(in: pieces))
        }
    }

    @Test func itIsFoundAtTheBeginningAfterTheLineBreakOfTheFields() {
        #expect(finds(in: [Data("--boundary".utf8)]))
    }

    @Test func aPartOfItIsNotIt() {
        #expect(!finds(in: [Data("x\r\n--boundar".utf8), Data("x--boundary\r\n-boundary".utf8)]))
    }

    @Test func itAgreesWithANaiveSearchOnAnyBytes() {
        var generator = SeededGenerator(state: 1)
        let delimiter = Data("\r\n--a-".utf8)
        for _ in 0..<2000 {
            let content = Data((0..<40).map { _ in Data("\r\n--a-".utf8).randomElement(using: &generator) ?? 0 })
            let cut = Int.random(in: 0...40, using: &generator)
            var search = BoundarySearch(for: delimiter)
            let first = search.finds(in: content.prefix(cut))
            let isFound = search.finds(in: content.dropFirst(cut)) || first
            #expect(isFound == ((Data("\r\n".utf8) + content).range(of: delimiter) != nil))
        }
    }
}
