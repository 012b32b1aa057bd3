import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(15))) struct TerminalScreenTests {
    private let pipe = Pipe()

    @Test func `Nothing is lost on a descriptor that is non-blocking`() async {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let output = CapturedOutput(of: pipe.fileHandleForReading)
        TerminalScreen(descriptor).print(moreThanAPipeHolds)
        try? pipe.fileHandleForWriting.close()
        #expect(await output.whole == moreThanAPipeHolds)
    }

    @Test func `A screen that was hurried gives up a reader that does not read`() async {
        let screen = TerminalScreen(pipe.fileHandleForWriting.fileDescriptor)
        screen.hurry()
        screen.print(moreThanAPipeHolds)
        screen.print("and no more")
        #expect(screen.failure == .stalled)
        let text = await written
        #expect(!text.isEmpty && text.count < moreThanAPipeHolds.count && moreThanAPipeHolds.hasPrefix(text))
    }

    @Test func `A row that would have to wait is not drawn`() async {
        let screen = TerminalScreen(pipe.fileHandleForWriting.fileDescriptor)
        screen.hurry()
        screen.print(moreThanAPipeHolds)
        let second = TerminalScreen(pipe.fileHandleForWriting.fileDescriptor)
        second.draw(["the next one comes soon"])
        #expect(second.failure == nil)
        #expect(await moreThanAPipeHolds.hasPrefix(written))
    }

    /// All that was written, at the end.
    private var written: String {
        get async {
            let output = CapturedOutput(of: pipe.fileHandleForReading)
            try? pipe.fileHandleForWriting.close()
            return await output.whole
        }
    }

    private let moreThanAPipeHolds = String(repeating: "A line of which there are many.\n", count: 10_000)
}
