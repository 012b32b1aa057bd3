import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct HeaderBlockTests {
    private static func fields(_ text: String) -> [[String]] {
        HeaderBlock(Array(text.utf8)).fields.map { [$0.name, $0.value] }
    }

    @Test(
        arguments: [
            ("", []), ("\r\n", []), ("A: 1\r\n", [["A", "1"]]), ("A: 1", [["A", "1"]]),
            ("A:1\nB:2\n", [["A", "1"], ["B", "2"]]),
            ("A:\r\nB: \r\n", [["A", ""], ["B", ""]]), ("A: b: c", [["A", "b: c"]]), ("A:\t 1 \t\r\n", [["A", "1"]]),
            ("A: 1\r\nA: 2\r\na: 3", [["A", "1"], ["A", "2"], ["a", "3"]]),
            ("A: 1\r\n\r\nB: 2", [["A", "1"], ["B", "2"]]),
            ("A : 1", [["A", "1"]]), ("A: é", [["A", "é"]]),
            // Without a name or a colon.
            ("A\r\nB: 2", [["B", "2"]]), (": 1\r\nB: 2", [["B", "2"]]), (" : 1\r\nB: 2", [["B", "2"]]),
            // Folding.
            ("A: 1\r\n 2\r\n\t3\r\nB: 4", [["A", "1 2 3"], ["B", "4"]]), ("A:\r\n 1", [["A", "1"]]),
            ("A: 1\r\n  \r\n 2", [["A", "1 2"]]),
            (" x\r\nA: 1", [["A", "1"]]), ("A: 1\r\nbroken\r\n 2", [["A", "1"]]), ("A: 1\r\n: 2\r\n 3", [["A", "1"]]),
            // CR and NUL.
            ("A: 1\rB: 2\r\n", [["A", "1 B: 2"]]), ("A: 1\r\r\n", [["A", "1"]]), ("A: x\0y\0\r\n", [["A", "x y"]]),
        ] as [(String, [[String]])])
    func `Lines become fields`(text: String, expected: [[String]]) {
        #expect(Self.fields(text) == expected)
    }

    @Test func `Bytes that are not UTF8 are latin1`() {
        let block = HeaderBlock(Array("A: x".utf8) + [0xE4] + Array("\r\nB: ä".utf8))
        #expect(block.fields.map(\.value) == ["xä", "ä"])
        #expect(block.value(of: "a") == "xä")
    }

    @Test(
        arguments: [
            ("a", "1, 2"), ("A", "1, 2"), ("bb", "x y"), ("B", nil), ("", nil), ("broken", nil), ("a:", nil),
            (" a", nil), ("ab", ""),
            ("S", "5"),
        ] as [(String, String?)])
    func `A value is found by its whole name in any case`(name: String, expected: String?) {
        let block = HeaderBlock(Array("A: 1\r\nBB: x\r\n y\r\nbroken\r\n z\r\na:2\r\nAb:\r\n: 9\r\nS : 5".utf8))
        #expect(block.value(of: name) == expected)
    }

    // MARK: Random bytes

    /// The rules of the type, as plainly as they can be put: over whole strings of Latin-1 scalars.
    private static func reference(_ bytes: [UInt8]) -> [(name: String, value: [UInt8])] {
        var fields: [(name: String, value: [UInt8])] = []
        var isInField = false
        for line in bytes.split(separator: 10, omittingEmptySubsequences: true) {
            if line.allSatisfy({ $0 == 13 }) { continue }
            let line = line.map { $0 == 13 || $0 == 0 ? 32 : $0 }
            if line[0] == 32 || line[0] == 9 {
                if isInField {
                    let more = strip(line)
                    if !more.isEmpty {
                        fields[fields.count - 1].value += (fields[fields.count - 1].value.isEmpty ? [] : [32]) + more
                    }
                }
                continue
            }
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            let name = strip(Array(parts[0]))
            isInField = parts.count == 2 && !name.isEmpty
            if isInField { fields.append((String(decoding: name, as: UTF8.self), strip(Array(parts[1])))) }
        }
        return fields
    }

    private static func strip(_ bytes: [UInt8]) -> [UInt8] {
        let isBlank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        return Array(bytes.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }

    @Test func `It agrees with a simple parser on random lines`() {
        var random = SystemRandomNumberGenerator()
        // A line that begins with a CR or NUL would be read as folded by the one and not by the other.
        let alphabet = Array("aAbB::: \t\n\n\r\0".utf8)
        for _ in 0..<5000 {
            var bytes = (0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement(using: &random)!
            }  // Not empty.
            for index in bytes.indices where bytes[index] == 13 || bytes[index] == 0 {
                if index == 0 || bytes[index - 1] == 10 { bytes[index] = UInt8(ascii: "a") }
            }
            let block = HeaderBlock(bytes)
            let expected = Self.reference(bytes).map { [$0.name, String(decoding: $0.value, as: UTF8.self)] }
            #expect(block.fields.map { [$0.name, $0.value] } == expected, "\(bytes)")
            for name in ["a", "B", "ab"] {
                let values = expected.filter { $0[0].lowercased() == name.lowercased() }.map { $0[1] }
                #expect(block.value(of: name) == (values.isEmpty ? nil : values.joined(separator: ", ")), "\(bytes)")
            }
        }
    }

    @Test func `No bytes trap it and no value breaks a line`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                // A list of four has a random element.
                let special = ([10, 13, 32, 58] as [UInt8]).randomElement(using: &random)!
                return Bool.random(using: &random) ? UInt8.random(in: 0...255, using: &random) : special
            }
            let block = HeaderBlock(bytes)
            for field in block.fields {
                #expect(!field.name.isEmpty)
                let breaks = (field.name + field.value).utf8.filter { $0 == 0 || $0 == 10 || $0 == 13 }
                #expect(breaks.isEmpty)
                let isToken = field.name.unicodeScalars.allSatisfy(\.isTokenScalar)
                #expect(!isToken || block.value(of: field.name) != nil)
            }
        }
    }
}
