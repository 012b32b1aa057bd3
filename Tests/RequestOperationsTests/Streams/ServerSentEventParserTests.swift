import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(15))) struct ServerSentEventParserTests {
    private struct Outcome: Equatable {
        var events: [ServerSentEvent] = []
        var lastEventID = ""
        var reconnectionTime: Duration?
        var isTooLong = false
    }

    private func outcome(
        of bytes: [UInt8], cutAt cuts: [Int], lastEventID: String, maximumSize: Int
    ) -> Outcome {
        var parser = ServerSentEventParser(lastEventID: lastEventID, maximumSize: maximumSize)
        var outcome = Outcome()
        for (start, end) in zip([0] + cuts, cuts + [bytes.count]) where !outcome.isTooLong {
            let yield = parser.parse(Data(bytes[start..<end]))
            outcome.events += yield.events
            outcome.lastEventID = yield.lastEventID
            outcome.reconnectionTime = yield.reconnectionTime
            outcome.isTooLong = yield.isTooLong
        }
        return outcome
    }

    /// What a text yields, which is the same wherever it is cut.
    private func outcome(
        _ text: String, after prefix: [UInt8] = [], lastEventID: String = "", maximumSize: Int = 100
    ) -> Outcome {
        let bytes = prefix + Array(text.utf8)
        let whole = outcome(of: bytes, cutAt: [], lastEventID: lastEventID, maximumSize: maximumSize)
        for cuts in (0...bytes.count).map({ [$0] }) + [Array(0...bytes.count)] {
            let other = outcome(of: bytes, cutAt: cuts, lastEventID: lastEventID, maximumSize: maximumSize)
            #expect(other == whole, "\(cuts)")
        }
        return whole
    }

    private func events(_ text: String) -> [ServerSentEvent] { outcome(text).events }

    // The examples of the standard.

    @Test func `Lines of data are joined by LF`() {
        #expect(events("data: YHOO\ndata: +2\ndata: 10\n\n") == [ServerSentEvent(data: "YHOO\n+2\n10")])
    }

    @Test func `An id holds until the next one, and an empty one removes it`() {
        let text = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n"
        #expect(
            events(text) == [
                ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
                ServerSentEvent(data: " third event"),
            ])
    }

    @Test func `Empty data is data, and an incomplete event is dropped`() {
        #expect(events("data\n\ndata\ndata\n\ndata:") == [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")])
    }

    @Test func `One space after the colon does not count`() {
        #expect(
            events("data:test\n\ndata: test\n\n") == [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")])
    }

    @Test func `An event may have any length`() {
        #expect(outcome("data: test\n\n", maximumSize: .max).events == [ServerSentEvent(data: "test")])
    }

    // Each rule.

    @Test(arguments: ["\n", "\r", "\r\n"])
    func `A line may end with`(_ end: String) {
        let text = ["event: a", "data: 1", "id: 7", "", "data: 2", "", ""].joined(separator: end)
        #expect(events(text) == [ServerSentEvent(type: "a", data: "1", id: "7"), ServerSentEvent(data: "2", id: "7")])
    }

    @Test func `Ends of lines may be mixed`() {
        #expect(
            events("data: 1\r\ndata: 2\rdata: 3\n\rdata: 4\r\r") == [
                ServerSentEvent(data: "1\n2\n3"), ServerSentEvent(data: "4"),
            ])
    }

    @Test func `An event with a CR at its end is complete at once`() {
        var parser = ServerSentEventParser(lastEventID: "", maximumSize: 100)
        #expect(parser.parse(Data("data: 1\r\r".utf8)).events == [ServerSentEvent(data: "1")])
        #expect(parser.parse(Data("\ndata: 2\r\n\r".utf8)).events == [ServerSentEvent(data: "2")])
    }

    @Test func `One byte-order mark at the beginning is dropped`() {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect(outcome("data: 1\n\n", after: mark).events == [ServerSentEvent(data: "1")])
        #expect(outcome("data: 1\n\n", after: mark + mark).events == [])
        #expect(events("\n\u{FEFF}data: 1\n\n") == [])
    }

    @Test func `A type holds for one event`() {
        #expect(
            events("event: a\ndata: 1\n\ndata: 2\n\nevent: b\n\ndata: 3\n\n").map(\.type) == [
                "a", "message", "message",
            ])
    }

    @Test func `Comments, unknown fields and other spellings are ignored`() {
        #expect(events(": data: 0\nDATA: 1\ndatax: 2\n data: 3\ndata: 4\n\n") == [ServerSentEvent(data: "4")])
    }

    @Test func `An id with NUL is ignored`() {
        #expect(outcome("id: 1\nid: 2\0\ndata: x\n\n").events == [ServerSentEvent(data: "x", id: "1")])
    }

    @Test func `An id without data counts, but only when its event is complete`() {
        #expect(outcome("id: 1\n\nid: 2\n").lastEventID == "1")
    }

    @Test func `A new response goes on with the last id`() {
        #expect(outcome("data: x\n\n", lastEventID: "5").events == [ServerSentEvent(data: "x", id: "5")])
    }

    @Test func `The time before a new connection is in milliseconds`() {
        #expect(outcome("retry: 1500\n").reconnectionTime == .milliseconds(1500))
    }

    @Test(arguments: ["retry\n", "retry: -1\n", "retry: 1.5\n", "retry: 1s\n", "retry: 99999999999999999999\n"])
    func `A time that is no number is ignored`(_ text: String) {
        #expect(outcome("retry: 7\n" + text).reconnectionTime == .milliseconds(7))
    }

    @Test func `Bytes that are no UTF-8 are replaced`() {
        var parser = ServerSentEventParser(lastEventID: "", maximumSize: 100)
        let events = parser.parse(Data("data: a".utf8) + [0xFF] + Data("b\n\n".utf8)).events
        #expect(events == [ServerSentEvent(data: "a\u{FFFD}b")])
    }

    @Test func `An event that is too long is an error after those before it`() {
        let atBound = outcome("data: 1\n\ndata: 12345\ndata: 123456\n\ndata: 2\n\n", maximumSize: 12)
        #expect(atBound.events.count == 3 && !atBound.isTooLong)
        let over = outcome("data: 1\n\ndata: 123456\ndata: 123456\n\ndata: 2\n\n", maximumSize: 12)
        #expect(over.events == [ServerSentEvent(data: "1")] && over.isTooLong)
    }

    @Test func `A line that does not end is an error before it fills the memory`() {
        var parser = ServerSentEventParser(lastEventID: "", maximumSize: 100)
        #expect(!parser.parse(Data(": \(String(repeating: "x", count: 354))".utf8)).isTooLong)
        #expect(parser.parse(Data("x".utf8)).isTooLong)
    }
}

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
