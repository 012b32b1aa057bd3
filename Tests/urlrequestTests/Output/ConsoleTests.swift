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

@Suite(.timeLimit(.minutes(10))) struct ProgressLineTests {
    private let line = ProgressLine(done: 50, failed: 2, retries: 1, total: 200, rate: 10)

    @Test func `A bar shows the part done, rate, failures, retries and time left`() {
        let bar = String(repeating: "█", count: 7) + String(repeating: "·", count: 22)
        #expect(line.bar(width: 80) == "[\(bar)] 50 of 200  10.0/s  2 failed  1 retry  0:15 left")
    }

    @Test(arguments: [0, 1, 10, 40, 60, 80, 200])
    func `A bar is narrower than its terminal`(_ width: Int) {
        #expect(line.bar(width: width).count <= max(width - 1, 0))
    }

    @Test func `Without a total there is neither bar nor time left`() {
        let open = ProgressLine(done: 50, failed: 0, retries: 3, total: nil, rate: 1234)
        #expect(open.bar(width: 80) == "50 done  1234/s  0 failed  3 retries")
    }

    @Test func `A log has a sentence`() {
        #expect(line.sentence == "urlrequest: 50 of 200, 10.0/s, 2 failed, 1 retry, 0:15 left\n")
    }

    @Test func `Hours are told as such`() {
        #expect(ProgressLine(done: 0, total: 3661, rate: 1).sentence.contains("1:01:01 left"))
    }

    @Test func `The rate is that of the last seconds`() {
        var rate = RecentRate(over: .seconds(5))
        #expect(rate.sample(0, at: .zero) == 0)
        #expect(rate.sample(100, at: .seconds(1)) == 100)
        for second in 2...20 { _ = rate.sample(100, at: .seconds(second)) }
        #expect(rate.sample(100, at: .seconds(21)) == 0)
    }
}
