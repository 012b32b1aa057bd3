import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct LineParserTests {
    /// All lines of some bytes, in pieces that end at some places.
    private func lines(
        of text: String, cutAt cuts: [Int], _ ends: LineParser.Ends, maximumLength: Int
    ) -> (lines: [String], isTooLong: Bool) {
        var parser = LineParser(ends, maximumLength: maximumLength)
        var lines: [String] = []
        let bytes = Data(text.utf8)
        do {
            for (start, end) in zip([0] + cuts, cuts + [bytes.count]) {
                parser.append(bytes[start..<end])
                while let line = try parser.next() { lines.append(String(decoding: line, as: UTF8.self)) }
            }
            if let line = try parser.finish() { lines.append(String(decoding: line, as: UTF8.self)) }
            return (lines, false)
        } catch {
            return (lines, true)
        }
    }

    /// The lines of a text, which are the same wherever it is cut.
    private func lines(
        _ text: String, _ ends: LineParser.Ends = .lineFeeds, maximumLength: Int = 100
    ) -> (lines: [String], isTooLong: Bool) {
        let count = text.utf8.count
        let whole = lines(of: text, cutAt: [], ends, maximumLength: maximumLength)
        var ways = (0...count).map { [$0] }
        ways.append(Array(0...count))
        for cuts in ways {
            #expect(lines(of: text, cutAt: cuts, ends, maximumLength: maximumLength) == whole, "\(cuts)")
        }
        return whole
    }

    @Test func `A line ends with LF or CRLF`() {
        #expect(lines("one\ntwo\r\nthree\n").lines == ["one", "two", "three"])
    }

    @Test func `A CR elsewhere belongs to its line`() {
        #expect(lines("a\rb\n\rc\r\r\nd\r").lines == ["a\rb", "\rc\r", "d\r"])
    }

    @Test func `The last line may have no end`() {
        #expect(lines("one\ntwo").lines == ["one", "two"])
    }

    @Test func `Empty lines count, and nothing after the last end does not`() {
        #expect(lines("\n\r\n\none\n\n").lines == ["", "", "", "one", ""])
        #expect(lines("").lines == [])
    }

    @Test func `A character that is cut is whole`() {
        #expect(lines("é€\n😀\n").lines == ["é€", "😀"])
    }

    @Test func `A CR ends a line too where all ends count`() {
        #expect(lines("a\rb\r\nc\n\rd\r\n\r\re", .all).lines == ["a", "b", "c", "", "d", "", "", "e"])
    }

    @Test(arguments: ["12345\n", "12345\r\n", "12345"])
    func `A line may have as many bytes as the bound`(_ text: String) {
        #expect(lines(text, maximumLength: 5) == (["12345"], false))
    }

    @Test(arguments: ["123456\n", "123456\r\n", "123456", "12345\r", "12345\rx\n"])
    func `A line that is too long is an error after the lines before it`(_ text: String) {
        #expect(lines("1\n22\n" + text + "3\n", maximumLength: 5) == (["1", "22"], true))
    }

    @Test func `A line that does not end is an error before it fills the memory`() throws {
        var parser = LineParser(.lineFeeds, maximumLength: 8)
        parser.append(Data("123456789".utf8))
        #expect(throws: LineParser.TooLong.self) { try parser.next() }
    }
}
