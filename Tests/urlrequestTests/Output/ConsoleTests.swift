import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(15))) struct ConsoleTests {
    private let pipe = Pipe()

    @Test func `Nothing is lost on a descriptor that is non-blocking`() async {
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let output = CapturedOutput(of: pipe.fileHandleForReading)
        Console(descriptor).print(moreThanAPipeHolds)
        try? pipe.fileHandleForWriting.close()
        #expect(await output.whole == moreThanAPipeHolds)
    }

    @Test func `A console that was hurried gives up a reader that does not read`() {
        let console = Console(pipe.fileHandleForWriting.fileDescriptor)
        console.hurry()
        console.print(moreThanAPipeHolds)
        console.print("and no more")
    }

    @Test func `A bar that would have to wait is not drawn`() {
        let console = Console(pipe.fileHandleForWriting.fileDescriptor)
        console.hurry()
        console.print(moreThanAPipeHolds)
        Console(pipe.fileHandleForWriting.fileDescriptor).draw("the next one comes soon")
    }

    private let moreThanAPipeHolds = String(repeating: "A line of which there are many.\n", count: 10_000)
}
