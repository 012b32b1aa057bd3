import RequestOperations
import RequestOperationsTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProgressBarTests {
    private let pipe = Pipe()

    @Test func `Where there is no terminal, plain lines are printed`() async throws {
        let bar = ProgressBar(
            ProgressLine("photos", total: 4), on: pipe.fileHandleForWriting, lineInterval: .milliseconds(100))
        bar.update { $0.completed = 3 }
        let line = String(decoding: await first(of: pipe.fileHandleForReading), as: UTF8.self)
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

    // MARK: Readers that do not read

    @Test func `A pipe that nobody reads holds nothing up`() async throws {
        let filled = fill(pipe.fileHandleForWriting.fileDescriptor)
        await withBarOnPipe { bar in
            bar.hidden { bar.update { $0.completed += 1 } }
            bar.end()
        }
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd()?.count == filled)
    }

    @Test func `A pipe whose reader has gone does not end the program`() async throws {
        try pipe.fileHandleForReading.close()
        // A program that another test is starting just now has the reader's end as well, until it runs.
        let writer = PatientWriter(to: pipe.fileHandleForWriting.fileDescriptor)
        let failure = (0..<60_000).lazy.compactMap { _ in writer.write([1]) }.first
        #expect(failure == .closed)
        await withBarOnPipe { bar in
            bar.print("one")
            bar.hidden {}
            bar.end()
        }
    }

    @Test func `A terminal that nobody reads holds nothing up`() async throws {
        let terminal = try PseudoTerminal()
        var bar: ProgressBar? = ProgressBar(
            ProgressLine("photos"), on: terminal.screen, keeping: terminal.handle, lineInterval: nil)
        #expect(await String(decoding: first(of: terminal.reader), as: UTF8.self).contains("photos"))
        fill(terminal.handle.fileDescriptor)
        bar?.update { $0.completed += 1 }
        bar?.hidden {}
        bar = nil
        ProgressBar(ProgressLine(), on: terminal.screen, lineInterval: nil).end()
    }

    @Test func `A terminal that takes a line in part holds nothing up`() async throws {
        let terminal = try PseudoTerminal()
        var size = winsize(ws_row: 24, ws_col: .max, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(terminal.handle.fileDescriptor, UInt(TIOCSWINSZ), &size) == 0)
        let title = String(repeating: "█", count: 60_000)
        let bar = ProgressBar(
            ProgressLine(title), on: terminal.screen, keeping: terminal.handle, lineInterval: nil)
        #expect(await !first(of: terminal.reader).isEmpty)
        bar.hidden {}
        bar.end()
    }

    /// Calls a function once a bar on the pipe has tried to print a plain line.
    private func withBarOnPipe(_ body: (ProgressBar) -> Void) async {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let bar = ProgressBar(
            ProgressLine("photos"), on: TerminalScreen(pipe.fileHandleForWriting.fileDescriptor),
            lineInterval: .milliseconds(100)
        ) {
            continuation.yield()
            return ProgressBar.Details(rows: [], words: "")
        }
        var iterator = calls.makeAsyncIterator()
        for _ in 0..<2 { await iterator.next() }
        body(bar)
    }

    /// What can be read first.
    private func first(of handle: FileHandle) async -> Data {
        let (pieces, continuation) = AsyncStream.makeStream(of: Data.self)
        handle.readabilityHandler = { continuation.yield($0.availableData) }
        defer { handle.readabilityHandler = nil }
        var iterator = pieces.makeAsyncIterator()
        return await iterator.next() ?? Data()
    }

    /// Writes until nothing more fits. Returns the number of bytes.
    @discardableResult
    private func fill(_ descriptor: Int32) -> Int {
        let flags = fcntl(descriptor, F_GETFL)
        _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(descriptor, F_SETFL, flags) }
        let bytes = Array(repeating: UInt8(ascii: "x"), count: 4096)
        var filled = 0
        while case let count = write(descriptor, bytes, bytes.count), count > 0 { filled += count }
        while write(descriptor, bytes, 1) == 1 { filled += 1 }
        return filled
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

/// A terminal whose other end a test reads, or does not.
private struct PseudoTerminal {
    let handle: FileHandle
    let reader: FileHandle
    let screen: TerminalScreen

    init() throws {
        #if os(Linux)
            let leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var (isLocked, number) = (Int32(0), UInt32(0))
            // TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>, which Swift does not import.
            try #require(ioctl(leader, 0x4004_5431, &isLocked) == 0 && ioctl(leader, 0x8004_5430, &number) == 0)
            let path = "/dev/pts/\(number)"
        #else
            let leader = posix_openpt(O_RDWR | O_NOCTTY)
            try #require(grantpt(leader) == 0 && unlockpt(leader) == 0)
            let path = String(cString: ptsname(leader))
        #endif
        let follower = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(isatty(follower) == 1)
        reader = FileHandle(fileDescriptor: leader, closeOnDealloc: true)
        handle = FileHandle(fileDescriptor: follower, closeOnDealloc: true)
        screen = TerminalScreen(follower, terminalType: "xterm")
    }
}
