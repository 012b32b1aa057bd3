import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct LineReaderTests {
    @Test func `Lines end with LF or CRLF, the last one with the input`() async throws {
        #expect(try await lines(of: ["a\nb\r\n\nc"]) == ["a", "b", "", "c"])
    }

    @Test func `An input that ends with a newline has no line after it`() async throws {
        #expect(try await lines(of: ["a\n"]) == ["a"])
    }

    @Test func `An empty input has no line`() async throws {
        #expect(try await lines(of: []) == [])
    }

    @Test func `A line may come in any pieces`() async throws {
        #expect(try await lines(of: ["h", "el", "lo\nwor", "ld", "\r", "\nx"]) == ["hello", "world", "x"])
    }

    @Test func `A line is given out before the source is asked for more`() async throws {
        var pieces = ["first\nsecond\nthi"]
        var reader = LineReader {
            // The first piece holds two lines; nothing else may be asked for before both are out.
            try #require(!pieces.isEmpty)
            return Array(pieces.removeFirst().utf8)
        }
        #expect(try await reader.next() == .bytes(Array("first".utf8)[...]))
        #expect(try await reader.next() == .bytes(Array("second".utf8)[...]))
    }

    @Test func `A byte order mark is no part of the first line`() async throws {
        #expect(try await lines(of: ["\u{FEFF}a\n\u{FEFF}b"]) == ["a", "\u{FEFF}b"])
    }

    @Test func `Of a line that is too long the rest is skipped, and the next one is read`() async throws {
        #expect(try await lines(of: ["12345678", "90\n", "next"], maximumLength: 5) == [nil, "next"])
    }

    @Test func `A line of exactly the largest length is kept`() async throws {
        #expect(try await lines(of: ["12345\n123456\n"], maximumLength: 5) == ["12345", nil])
    }

    @Test func `A line that is too long and has no end is one line`() async throws {
        #expect(try await lines(of: ["1234", "5678", "9012"], maximumLength: 5) == [nil])
    }

    @Test func `The bytes of the lines given out are counted`() async throws {
        var pieces = ["ab\nc", "d\ne"]
        var reader = LineReader { pieces.isEmpty ? [] : Array(pieces.removeFirst().utf8) }
        var counts: [Int64] = []
        while try await reader.next() != nil { counts.append(reader.consumed) }
        #expect(counts == [3, 6, 7])
    }

    @Test func `An error of the source is thrown`() async {
        var reader = LineReader { throw UnusableInput("broken") }
        await #expect(throws: UnusableInput("broken")) { try await reader.next() }
    }

    /// The lines as text; `nil` for one that was too long.
    private func lines(of pieces: [String], maximumLength: Int = 100) async throws -> [String?] {
        var pieces = pieces
        var reader = LineReader(maximumLength: maximumLength) {
            pieces.isEmpty ? [] : Array(pieces.removeFirst().utf8)
        }
        var lines: [String?] = []
        while let line = try await reader.next() {
            if case .bytes(let bytes) = line {
                lines.append(String(decoding: bytes, as: UTF8.self))
            } else {
                lines.append(nil)
            }
        }
        return lines
    }
}

/// No line traps the reader of the tool's input. 1,000,000 lines with `REQUEST_OPERATIONS_STRESS=full`, else 5,000.
@Suite(.timeLimit(.minutes(30))) struct FuzzedLineTests {
    @Test func `No line harms the reader of JSON lines`() {
        let seeds = [
            #"{"url":"https://a.example/x","method":"POST","headers":{"A":"b","C":["d","e"]},"body":{"x":[1,2.5e3,null]}}"#,
            #"{"url":"http://a/\u00e9","body":"text","lane":"l","key":"k","notBefore":1,"expires":2}"#,
        ]
        var mutator = Mutator(seeds.map { Array($0.utf8) }, seed: 1)
        let isFull = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"] == "full"
        for _ in 0..<(isFull ? 1_000_000 : 5000) {
            let input = mutator.next()
            _ = try? JSONLine(input[...], isForQueue: true)
        }
    }
}
