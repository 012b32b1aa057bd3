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

    @Test func `A screen that was hurried gives up a reader that does not read`() {
        let screen = TerminalScreen(pipe.fileHandleForWriting.fileDescriptor)
        screen.hurry()
        screen.print(moreThanAPipeHolds)
        screen.print("and no more")
    }

    @Test func `A row that would have to wait is not drawn`() {
        let screen = TerminalScreen(pipe.fileHandleForWriting.fileDescriptor)
        screen.hurry()
        screen.print(moreThanAPipeHolds)
        TerminalScreen(pipe.fileHandleForWriting.fileDescriptor).draw(["the next one comes soon"])
    }

    private let moreThanAPipeHolds = String(repeating: "A line of which there are many.\n", count: 10_000)
}
