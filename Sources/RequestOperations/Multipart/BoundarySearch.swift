/// Searches bytes that come in pieces for a delimiter, one that lies across two of them too (Horspool's algorithm).
struct BoundarySearch {
    private let delimiter: [UInt8]
    /// How far the search may go on after a byte at the end of the window.
    private let steps: [Int]
    /// The last bytes of the pieces so far, fewer than the delimiter has. What comes before a content is a line break, which
    /// a delimiter at its very beginning would take for its own.
    private var tail: ArraySlice<UInt8>

    init(for delimiter: Data) {
        self.delimiter = Array(delimiter)
        var steps = [Int](repeating: delimiter.count, count: 256)
        for (place, byte) in delimiter.dropLast().enumerated() { steps[Int(byte)] = delimiter.count - 1 - place }
        self.steps = steps
        tail = ["\r", "\n"].map { UInt8(ascii: $0) }[...]
    }

    /// Whether the delimiter ends in the next piece.
    mutating func finds(in piece: Data) -> Bool {
        piece.withUnsafeBytes { bytes in
            let reach = delimiter.count - 1
            // With these types: those of `Sequence`, which the operators prefer, look at every byte.
            let first: Slice<UnsafeRawBufferPointer> = bytes.prefix(reach)
            let last: Slice<UnsafeRawBufferPointer> = bytes.suffix(reach)
            let beginning = tail + first
            let isFound = beginning.withUnsafeBytes(contains) || contains(bytes)
            tail = (tail + last).suffix(reach)
            return isFound
        }
    }

    private func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let last = delimiter.count - 1
        var end = last
        while end < bytes.count {
            if bytes[end] == delimiter[last], isDelimiter(bytes, endingAt: end) { return true }
            end += steps[Int(bytes[end])]
        }
        return false
    }

    private func isDelimiter(_ bytes: UnsafeRawBufferPointer, endingAt end: Int) -> Bool {
        let start = end - delimiter.count + 1
        return delimiter.indices.allSatisfy { bytes[start + $0] == delimiter[$0] }
    }
}
