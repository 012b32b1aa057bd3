import RequestOperations

/// Texts that break encodings: marks of every format, controls, all planes of Unicode, line breaks as one character.
struct AnyText {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    private static let pieces: [String] =
        [
            "a", "Z", "0", " ", "&", "=", "+", "%", "%20", "%zz", "[", "]", ".", "..", "?", "#", "/", "\\", "\"", "'",
            "`",
            "$", "$(", "!", ";", ":", "@", ",", "*", "~", "<", ">", "|", "{", "}", "^", "\r", "\n", "\r\n", "\t",
            "\u{7F}",
            "é", "e\u{301}", "ß", "İ", "用户", "🏴‍☠️", "👩‍👩‍👧", "\u{FEFF}", "\u{200F}", "\u{10FFFF}", "\u{0}", "null", "--",
            // Each makes one character of itself and the mark of a format beside it.
            "\u{301}", "\u{FE0F}", "\u{200D}", "\u{600}",
        ]

    /// A text of up to twelve such pieces, without those that are excluded.
    mutating func next(excluding excluded: Set<Unicode.Scalar> = []) -> String {
        let text = (0..<Int.random(in: 0...12, using: &generator))
            .map { _ in Self.pieces.randomElement(using: &generator) ?? "" }.joined()
        return String(String.UnicodeScalarView(text.unicodeScalars.filter { !excluded.contains($0) }))
    }

    mutating func number(in range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    mutating func boolean() -> Bool {
        Bool.random(using: &generator)
    }

    mutating func double() -> Double {
        let value = Double(bitPattern: generator.next())
        return value.isFinite ? value : 0.1
    }
}
