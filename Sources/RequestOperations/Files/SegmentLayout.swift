/// How the missing bytes of a file are shared out among requests that run at once. A pure function.
enum SegmentLayout {
    /// What is worth a request of its own, in bytes.
    static let smallest: Int64 = 1 << 20

    /// Bytes that are there, from the beginning of the file or from some place in it.
    struct Part: Sendable, Hashable {
        /// Where in the whole file the part begins.
        let start: Int64
        /// Where it ends at present.
        let end: Int64
    }

    /// Bytes that one request asks for.
    struct Piece: Sendable, Hashable {
        /// Where the part begins that the bytes belong to. A new part begins with the range.
        let start: Int64
        let range: Range<Int64>
    }

    /// Shares out what is missing.
    ///
    /// - Parameters:
    ///   - parts: What is there, in order. The first part begins at 0.
    ///   - total: The length of the whole file.
    ///   - count: How many pieces are made at most. There is one at least for each gap.
    /// - Returns: The pieces, in order.
    static func pieces(missingIn parts: [Part], of total: Int64, atMost count: Int) -> [Piece] {
        let gaps = gaps(in: parts, of: total)
        return zip(gaps, shares(of: gaps, atMost: count)).flatMap { gap, share in split(gap, in: share) }
    }

    private static func gaps(in parts: [Part], of total: Int64) -> [Piece] {
        let nextStarts = parts.dropFirst().map(\.start) + [total]
        var reached: Int64 = 0
        return zip(parts, nextStarts).compactMap { part, next in
            reached = max(reached, part.end)
            guard reached < next else { return nil }
            // A part that lies within the one before cannot go on.
            return Piece(start: part.end == reached ? part.start : reached, range: reached..<next)
        }
    }

    /// In how many pieces each gap is split, so that the largest piece is as small as possible.
    private static func shares(of gaps: [Piece], atMost count: Int) -> [Int64] {
        var shares = gaps.map { _ in Int64(1) }
        var left = count - gaps.count
        while left > 0 {
            let sizes = zip(gaps, shares).map { gap, share in gap.length / share }
            guard let largest = sizes.indices.max(by: { sizes[$0] < sizes[$1] }),
                gaps[largest].length / (shares[largest] + 1) >= smallest
            else { break }
            shares[largest] += 1
            left -= 1
        }
        return shares
    }

    private static func split(_ gap: Piece, in share: Int64) -> [Piece] {
        let size = gap.length / share
        return (0..<share).map { number in
            let lower = gap.range.lowerBound + number * size
            let upper = number == share - 1 ? gap.range.upperBound : lower + size
            return Piece(start: number == 0 ? gap.start : lower, range: lower..<upper)
        }
    }
}

extension SegmentLayout.Piece {
    fileprivate var length: Int64 { range.upperBound - range.lowerBound }
}
