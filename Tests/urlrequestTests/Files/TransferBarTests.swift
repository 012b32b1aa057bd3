import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct TransferBarTests {
    private let bar = TransferBar(
        name: "http://a.example/file.bin", completed: 500_000, total: 2_000_000, rate: 100_000)

    @Test func `A bar shows the part done, the file, the bytes, the rate and the time left`() {
        let filled = String(repeating: "█", count: 10) + String(repeating: "·", count: 30)
        #expect(
            bar.line(width: 160)
                == "[\(filled)] http://a.example/file.bin  500 kB of 2.00 MB  100 kB/s  0:15 left")
    }

    @Test(arguments: [0, 1, 10, 30, 40, 60, 80, 200])
    func `A bar is narrower than its terminal`(_ width: Int) {
        #expect(bar.line(width: width).count <= max(width - 1, 0))
        #expect(TransferBar(name: bar.name, completed: 7).line(width: width).count <= max(width - 1, 0))
    }

    @Test func `Without a total there is neither bar nor time left`() {
        #expect(TransferBar(name: "a", completed: 5).line(width: 80) == "a  5 B")
        #expect(TransferBar(name: "a", completed: 0, total: 0).line(width: 80) == "a  0 B of 0 B")
    }

    @Test func `A narrow terminal keeps the end of the name`() {
        #expect(bar.line(width: 50).hasPrefix("e.bin  ") || bar.line(width: 50).contains("bin  500 kB"))
    }
}
