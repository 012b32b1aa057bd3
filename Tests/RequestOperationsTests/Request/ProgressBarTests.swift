import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProgressBarTests {
    private let pipe = Pipe()

    @Test func `Where there is no terminal, plain lines are printed`() async throws {
        let bar = ProgressBar(
            ProgressLine("photos", total: 4), on: pipe.fileHandleForWriting, lineInterval: .milliseconds(100))
        bar.update { $0.completed = 3 }
        let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
        pipe.fileHandleForReading.readabilityHandler = { continuation.yield($0.availableData) }
        var iterator = pieces.makeAsyncIterator()
        let line = String(decoding: await iterator.next() ?? Data(), as: UTF8.self)
        pipe.fileHandleForReading.readabilityHandler = nil
        #expect(line.hasPrefix("photos: 3 of 4") && line.hasSuffix("\n"))
        bar.end()
    }

    @Test func `Without an interval nothing but messages is printed, and none is lost`() async throws {
        let bar = ProgressBar(ProgressLine("photos"), on: pipe.fileHandleForWriting, lineInterval: nil)
        bar.update { $0.completed += 1 }
        bar.hidden { bar.print("one") }
        bar.end()
        bar.end()
        bar.print("two")
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("one\ntwo\n".utf8))
    }

    @Test func `A bar follows a batch to its end`() async throws {
        let batch = RequestBatch(each: (0..<3).map { number in RetryingOperation { _ in number } })
        let bar = ProgressBar(on: pipe.fileHandleForWriting, lineInterval: nil)
        let updates = batch.progressUpdates
        OperationQueue().addOperation(batch)
        await bar.follow(updates)
        #expect(try await batch.value.map { try $0.get() } == [0, 1, 2])
        bar.update { #expect($0.completed == 3 && $0.total == 3) }
    }

    // MARK: What is written

    @Test func `Rows are drawn over the former ones, and cleared`() {
        var rows = DrawnRows()
        #expect(rows.clear() == "")
        #expect(rows.draw(["a"]) == "\ra\u{1B}[J")
        #expect(rows.draw(["a"]) == "")
        #expect(rows.draw(["b", "c", "d"]) == "\rb\u{1B}[K\r\nc\u{1B}[K\r\nd\u{1B}[J")
        #expect(rows.draw(["e"]) == "\u{1B}[2Fe\u{1B}[J")
        #expect(rows.clear() == "\r\u{1B}[J" && rows.clear() == "")
    }
}
