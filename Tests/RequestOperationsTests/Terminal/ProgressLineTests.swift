import RequestOperations
import Testing

@Suite(.timeLimit(.minutes(2))) struct ProgressLineTests {
    /// A line that has done a number of things in five seconds.
    private static func line(
        _ title: String = "", unit: ProgressLine.Unit = .items, completed: Int64 = 50, of total: Int64? = 200,
        notes: [String] = []
    ) -> ProgressLine {
        var line = ProgressLine(title, unit: unit, total: total)
        line.measure(at: .zero)
        line.completed = completed
        line.measure(at: .seconds(5))
        line.notes = notes
        return line
    }

    private let line = line(notes: ["2 failed", "1 retry"])

    @Test func `A bar shows the part done, the rate, the notes and the time left`() {
        let bar = String(repeating: "█", count: 7) + String(repeating: "·", count: 22)
        #expect(line.text(width: 80) == "[\(bar)] 50 of 200  10.0/s  2 failed  1 retry  0:15 left")
    }

    @Test(arguments: [0, 1, 10, 30, 40, 60, 80, 200])
    func `A line is narrower than its terminal`(_ width: Int) {
        let file = Self.line("http://a.example/file.bin", unit: .bytes, completed: 500_000, of: 2_000_000)
        for line in [line, file, ProgressLine("http://a.example/file.bin", completed: 7)] {
            #expect(line.text(width: width).count <= max(width - 1, 0))
        }
    }

    @Test func `Without a total there is neither bar nor time left`() {
        let open = Self.line(completed: 6170, of: nil, notes: ["0 failed"])
        #expect(open.text(width: 80) == "6170 done  1234/s  0 failed")
        #expect(open.fraction == nil)
        #expect(ProgressLine("a", unit: .bytes, completed: 5).text(width: 80) == "a  5 B")
        #expect(ProgressLine("a", unit: .bytes, total: 0).text(width: 80) == "a  0 B of 0 B")
    }

    @Test func `A log has a sentence`() {
        #expect(line.sentence == "50 of 200, 10.0/s, 2 failed, 1 retry, 0:15 left")
        #expect(ProgressLine("photos", completed: 1, total: 2).sentence == "photos: 1 of 2")
    }

    @Test func `Hours are shown as such`() {
        #expect(Self.line(completed: 5, of: 3666).sentence.contains("1:01:01 left"))
    }

    @Test func `A file shows its name, bytes, their rate and the time left`() {
        let filled = String(repeating: "█", count: 10) + String(repeating: "·", count: 30)
        let line = Self.line("http://a.example/file.bin", unit: .bytes, completed: 500_000, of: 2_000_000)
        #expect(
            line.text(width: 160)
                == "[\(filled)] http://a.example/file.bin  500 kB of 2.00 MB  100 kB/s  0:15 left")
        // A narrow terminal keeps the end of the name.
        #expect(line.text(width: 50).hasPrefix("file.bin  ") || line.text(width: 50).contains("bin  500 kB"))
    }

    @Test func `The rate is that of the last seconds`() throws {
        var line = ProgressLine()
        line.measure(at: .zero)
        #expect(line.rate == nil)
        line.completed = 100
        line.measure(at: .seconds(1))
        #expect(line.rate == 100)
        for second in 2...20 { line.measure(at: .seconds(second)) }
        #expect(line.rate == 0 && line.sentence == "100 done")
    }

    @Test func `No text moves the cursor`() {
        var line = ProgressLine("a\u{1B}[2J\r\nb", completed: 1)
        line.notes = ["\u{9B}2J"]
        for text in [line.text(width: 80), line.sentence] {
            #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
    }

    @Test func `A line takes over how far an operation has come`() {
        var line = ProgressLine("photos", completed: 9)
        line.take(ProgressUpdate(completed: 3, total: 4))
        #expect(line.completed == 3 && line.total == 4 && line.fraction == 0.75)
    }
}
