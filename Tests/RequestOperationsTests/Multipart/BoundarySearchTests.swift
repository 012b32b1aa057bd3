import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct BoundarySearchTests {
    private static let delimiter = Data("\r\n--boundary".utf8)

    private func finds(in pieces: [Data]) -> Bool {
        var search = BoundarySearch(for: Self.delimiter)
        return pieces.contains { search.finds(in: $0) }
    }

    @Test func `It is found wherever two pieces meet`() {
        let content = Data("abc".utf8) + Self.delimiter + Data("def".utf8)
        for cut in 0...content.count {
            #expect(finds(in: [content.prefix(cut), content.dropFirst(cut)]))
        }
    }

    @Test func `It is found in pieces of any size`() {
        let content = Data(repeating: 0x2D, count: 100) + Self.delimiter
        for size in 1...20 {
            let pieces = stride(from: 0, to: content.count, by: size).map { content.dropFirst($0).prefix(size) }
            #expect(finds(in: pieces))
        }
    }

    @Test func `It is found at the beginning after the line break of the fields`() {
        #expect(finds(in: [Data("--boundary".utf8)]))
    }

    @Test func `A part of it is not it`() {
        #expect(!finds(in: [Data("x\r\n--boundar".utf8), Data("x--boundary\r\n-boundary".utf8)]))
    }

    @Test func `It agrees with a naive search on any bytes`() {
        var generator = SplitMix64(seed: 1)
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

@Suite(.timeLimit(.minutes(10))) struct MIMETypeTests {
    @Test(arguments: [
        ("a.jpg", "image/jpeg"), ("a.tar.GZ", "application/gzip"), ("a.JSON", "application/json"),
        ("photo.heic", "image/heic"),
    ])
    func `The last extension tells`(_ name: String, _ type: String) {
        #expect(MIMEType.ofFile(named: name) == type)
    }

    @Test(arguments: ["a", "", "a.", ".", "a.unknown", "a.jpg\r\n"]) func `Any other is bytes`(_ name: String) {
        #expect(MIMEType.ofFile(named: name) == "application/octet-stream")
    }
}
