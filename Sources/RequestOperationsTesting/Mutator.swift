import RequestOperations

/// Makes inputs for a parser of untrusted bytes: known texts with changes that break parsers. The same seed gives the same
/// inputs.
package struct Mutator: Sendable {
    private let seeds: [[UInt8]]
    private var random: SplitMix64

    /// Longer inputs are cut.
    package static let longest = 4096

    /// What is put into inputs besides random bytes: the marks of most grammars, and what breaks UTF-8 or numbers.
    private static let words: [[UInt8]] =
        [
            "\"", "\\", "\r\n", "\r", "\n", "\0", ",", ";", "=", ":", "/", "..", "%", "%00", "%ff", "&", "{", "}", "[",
            "]", "<", ">",
            "(", ")", "'", "*", "--", "-1", "0", "18446744073709551616", "9223372036854775807", "1e999", "\u{FEFF}",
            "\u{200D}",
            "\u{0301}", "\u{1F600}", "\t", " ", "+", "!", "?", "#", "@", "&amp;", "<!--", "<?", "?>", "<?a?>", "]]>",
            "<![CDATA[", "null",
        ].map { Array($0.utf8) } + [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x90], [0x80]]

    /// Makes a mutator.
    ///
    /// - Parameters:
    ///   - seeds: Texts that the parser accepts, at least one.
    ///   - seed: The seed of the random numbers.
    package init(_ seeds: [[UInt8]], seed: UInt64) {
        self.seeds = seeds
        random = SplitMix64(seed: seed)
    }

    /// The next input.
    package mutating func next() -> [UInt8] {
        var input = pick(seeds)
        for _ in 0..<Int.random(in: 1...6, using: &random) { change(&input) }
        return Array(input.prefix(Self.longest))
    }

    private mutating func change(_ input: inout [UInt8]) {
        let place = Int.random(in: 0...input.count, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0 where place < input.count:
            input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1 where place < input.count:
            input[place] = UInt8.random(in: 0...255, using: &random)
        case 2:
            input.replaceSubrange(range(from: place, in: input), with: [])
        case 3:
            input.insert(contentsOf: input[range(from: place, in: input)], at: place)
        case 4:
            let other = pick(seeds)
            input.replaceSubrange(
                place..., with: other[range(from: Int.random(in: 0...other.count, using: &random), in: other)])
        case 5:
            // What is nested or repeated without an end.
            let word = pick(Self.words)
            let count = Int.random(in: 1...200, using: &random)
            input.insert(contentsOf: (0..<count).flatMap { _ in word }, at: place)
        case 6:
            input.removeSubrange(place...)
        case 7:
            input.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default:
            input.insert(contentsOf: pick(Self.words), at: place)
        }
    }

    private mutating func range(from place: Int, in input: [UInt8]) -> Range<Int> {
        place..<min(place + Int.random(in: 0...32, using: &random), input.count)
    }

    private mutating func pick(_ all: [[UInt8]]) -> [UInt8] {
        all[Int.random(in: 0..<all.count, using: &random)]
    }
}
