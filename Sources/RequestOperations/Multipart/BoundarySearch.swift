/// Searches bytes that come in pieces for a delimiter (Horspool's algorithm). It also finds one that spans two pieces.
struct BoundarySearch {
    private let delimiter: [UInt8]
    /// How far the search moves forward for each value of the last byte in the window.
    private let steps: [Int]
    /// The last bytes of the pieces so far, one byte fewer than the delimiter has.
    ///
    /// It begins with a line break, because a line break precedes the content. A delimiter at the very start of the
    /// content could use that line break.
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
            // The types are written out because the operators prefer the methods of `Sequence`, which look at every
            // byte.
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
