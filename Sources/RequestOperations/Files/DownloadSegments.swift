/// The parts of a file that several requests download at once.
///
/// The partial file always has the beginning of the file, as without segments. Each later part is in a file of its own beside it.
/// Its bytes move to the partial file when that reaches the part. Everything here is called on the queue of the download, unless
/// it says otherwise.
extension Download {
    /// How many bytes are moved at a time, so that others get their turn on the queue.
    private static let moveSize = 1 << 20

    /// Whether the file may be requested in segments.
    private var isSegmented: Bool {
        if case .segments(2...) = state.withLock({ $0.step }) { true } else { false }
    }

    // MARK: The first part

    /// The request for the next part of what is missing, in place of one for all of it.
    ///
    /// - Parameter rest: The request for the rest; `nil` if nothing is there. The response to the request for the first part
    ///   then tells whether the server has ranges, the length and the validator.
    func part(of rest: RangeRequest?) -> RangeRequest? {
        guard isSegmented else { return rest }
        guard var part = rest else {
            return RangeRequest(offset: 0, validator: nil, total: nil, length: SegmentLayout.smallest)
        }
        guard let total = part.total, part.offset < total else { return rest }
        let next = state.withLock { $0.segments.first?.place.start } ?? total
        part.length = min(SegmentLayout.smallest, next - part.offset)
        return part
    }

    /// Takes over the segments that an earlier operation left.
    func takeOverSegments(of file: PartialFile, _ record: PartialRecord?) throws {
        // What a file on the disk says can be damaged.
        let places = 1..<max(record?.total ?? 1, 1)
        let segments = try (record?.segments ?? []).filter(places.contains).sorted().compactMap { start in
            try PartialFile.existing(at: file.place.segment(from: start))
        }
        state.withLock { $0.segments = segments }
    }

    /// Moves the segments that the partial file has come to, so that a part is missing before the first that is left.
    func moveReachedSegments() throws {
        guard isSegmented else { return dropSegments() }
        while try moveSome() {}
    }

    // MARK: The others

    /// Downloads what is missing after the response to the request for a part. Can be called from anywhere.
    func fetchMissing(for operation: DownloadOperation) async throws {
        var hasFetched = false
        while case .segments(let width) = state.withLock({ $0.step }) {
            let missing = try await queue.run { [self] in try missingSegments(atMost: width) }
            if missing.isEmpty { break }
            hasFetched = true
            try await fetch(missing, atMost: width, for: operation)
        }
        // The first part may have been the last one that was missing.
        guard hasFetched || state.withLock({ !$0.segments.isEmpty }) else { return }
        while try await queue.run({ [self] in try moveSome() }) {}
        try await queue.run { [self] in report(isLast: true) }
    }

    /// Downloads several segments at the same time. If the server refuses one, the others go on.
    ///
    /// - Throws: The error of a segment, unless fewer segments may be requested.
    private func fetch(
        _ missing: [MissingSegment], atMost width: Int, for operation: DownloadOperation
    ) async throws {
        let attempt = state.withLock { $0.attempt }
        let before = try await queue.run { [self] in state.withLock { $0.received } }
        let members = missing.map { SegmentOperation($0, of: operation, in: self, attempt: attempt) }
        let batch = RequestBatch(members, policy: .collectAll, maximumConcurrency: width)
        for member in members {
            // It does not wait for the completion queue, which belongs to the user.
            member.subscribeToFinish { [weak member, weak batch] in
                guard let member, member.failure != nil else { return }
                if width == 1 || member.refusal == nil { batch?.cancel() }
            }
        }
        // The attempt holds no slot any more. Each segment takes its own.
        await batch.runAsLink(by: .ofCurrentOperation)
        try Task.checkCancellation()
        let failed = members.filter { $0.failure != nil }
        let uncancelled = failed.filter { !($0.failure is CancellationError) }
        let first = uncancelled.first { $0.refusal == nil } ?? uncancelled.first ?? failed.first
        guard let error = first?.failure else { return }
        try await queue.run { [self] in
            let (step, file) = state.withLock { state in
                state.step.stepDown(
                    by: failed.count, after: uncancelled.map(\.refusal), hasGrown: state.received > before)
                return (state.step, state.file)
            }
            if case .segments = step { return }
            // Bytes of a file that has changed on the server are of no use.
            if step == .changed, let file { try spoil(file) }
            throw error
        }
    }

    /// Shares out what is missing, and makes the files for it.
    private func missingSegments(atMost count: Int) throws -> [MissingSegment] {
        let (known, record, segments) = state.withLock { ($0.file, $0.record, $0.segments) }
        guard let file = known, let total = record?.total, file.size < total, let validator = record?.validator else {
            return []
        }
        var files = [file] + segments
        let pieces = SegmentLayout.pieces(
            missingIn: files.map { $0.place.start..<$0.end }, of: total, atMost: count)
        if pieces.isEmpty { return [] }
        let starts = pieces.map(\.start).filter { start in !files.contains { $0.place.start == start } }
        // The side file names the segments before they are there, so that none is forgotten.
        let named = state.withLock { state in
            state.record?.segments = (segments.map(\.place.start) + starts).sorted()
            return state.record
        }
        if plan.leavesPartials { try named?.write(to: file.place.record) }
        for start in starts {
            let new = try PartialFile.made(at: file.place.segment(from: start))
            try new.empty()
            files.append(new)
        }
        let kept = files.dropFirst().sorted { $0.place.start < $1.place.start }
        guard state.withLock({ $0.keep(kept) }) else {
            // The operation has ended. It removed only the files that it knew.
            for segment in kept where !plan.leavesPartials { segment.remove() }
            throw CancellationError()
        }
        return pieces.compactMap { piece in
            files.first { $0.place.start == piece.start }.map { segment in
                let asked = RangeRequest(
                    offset: piece.range.lowerBound, validator: validator, total: total, length: piece.length)
                return (segment, asked)
            }
        }
    }

    /// Moves some bytes of the first segment to the partial file, if that has reached the segment. Returns `false` if it has not.
    private func moveSome() throws -> Bool {
        let (known, first) = state.withLock { ($0.file, $0.segments.first) }
        guard let file = known, let segment = first, segment.place.start <= file.size else { return false }
        if segment.end > file.size {
            try file.append(segment.bytes(from: file.size - segment.place.start, atMost: Self.moveSize))
        } else {
            segment.remove()
            state.withLock { _ = $0.segments.removeFirst() }
        }
        return true
    }

    /// Reports to the listener of the attempt how far the whole file has come, at most 20 times a second.
    func report(isLast: Bool = false) {
        let (listener, received, total) = state.withLock { state in
            (state.file == nil ? nil : state.listenerToNotify(isLast: isLast), state.received, state.record?.total)
        }
        listener?(TransferProgress(bytesReceived: received, bytesToReceive: total))
    }

    /// Removes the segments. Can be called from anywhere.
    func dropSegments() {
        for segment in state.withLock({ $0.takeSegments() }) { segment.remove() }
    }
}

/// The file that bytes are appended to, and the request for them. The request has a length.
typealias MissingSegment = (segment: PartialFile, asked: RangeRequest)

/// How the missing bytes of a file are shared out among requests that run at once. A pure function.
enum SegmentLayout {
    /// The fewest bytes that justify a request of their own.
    static let smallest: Int64 = 1 << 20

    /// Bytes that one request asks for.
    struct Piece: Sendable, Hashable {
        /// Where the part begins that the bytes belong to. A new part begins with the range.
        let start: Int64
        let range: Range<Int64>

        var length: Int64 { range.upperBound - range.lowerBound }
    }

    /// Shares out what is missing, so that the largest piece is as small as possible.
    ///
    /// - Parameters:
    ///   - parts: The bytes that are there, in order. The first part begins at 0. A part may be empty.
    ///   - total: The length of the whole file.
    ///   - count: How many pieces are made at most. There is one at least for each gap.
    /// - Returns: The pieces, in order.
    static func pieces(missingIn parts: [Range<Int64>], of total: Int64, atMost count: Int) -> [Piece] {
        let gaps = gaps(in: parts, of: total)
        var shares = gaps.map { _ in Int64(1) }
        for _ in 0..<max(count - gaps.count, 0) {
            let sizes = zip(gaps, shares).map { gap, share in gap.length / share }
            guard let largest = sizes.indices.max(by: { sizes[$0] < sizes[$1] }),
                gaps[largest].length / (shares[largest] + 1) >= smallest
            else { break }
            shares[largest] += 1
        }
        return zip(gaps, shares).flatMap { gap, share in
            (0..<share).map { number in
                let lower = gap.range.lowerBound + number * (gap.length / share)
                let upper = number == share - 1 ? gap.range.upperBound : lower + gap.length / share
                return Piece(start: number == 0 ? gap.start : lower, range: lower..<upper)
            }
        }
    }

    private static func gaps(in parts: [Range<Int64>], of total: Int64) -> [Piece] {
        let nextStarts = parts.dropFirst().map(\.lowerBound) + [total]
        var reached: Int64 = 0
        return zip(parts, nextStarts).compactMap { part, next in
            reached = max(reached, part.upperBound)
            guard reached < next else { return nil }
            // A part that lies within the one before cannot go on.
            return Piece(start: part.upperBound == reached ? part.lowerBound : reached, range: reached..<next)
        }
    }
}
