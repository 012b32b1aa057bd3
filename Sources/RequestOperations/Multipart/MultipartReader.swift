/// Reads a multipart body once, from beginning to end.
// Unchecked: a reader of a body is asked for one piece at a time.
final class MultipartReader: @unchecked Sendable {
    private let delimiter: Data
    private var pieces: ArraySlice<MultipartPieces.Piece>
    private var content: Content?

    /// A content that is being read.
    private struct Content {
        let name: String
        let reader: BodyStream.Reader
        var search: BoundarySearch
    }

    init(_ pieces: MultipartPieces) {
        delimiter = pieces.delimiter
        self.pieces = pieces.pieces[...]
    }

    /// The reader that a body stream hands out.
    var reader: BodyStream.Reader {
        BodyStream.Reader { try await self.next() }
    }

    private func next() async throws -> Data? {
        while true {
            if content != nil {
                if let piece = try await nextOfContent() { return piece }
                content = nil
            }
            switch pieces.popFirst() {
            case nil: return nil
            case .framing(let data): return data
            // Content in memory was already searched for the boundary.
            case .content(.none, _): continue
            case .content(.data(let data), _): return data
            case .content(.file(let file), let name): open(name, FileReader(file).reader)
            case .content(.stream(let stream), let name): open(name, try await stream.open())
            }
        }
    }

    private func open(_ name: String, _ reader: BodyStream.Reader) {
        content = Content(name: name, reader: reader, search: BoundarySearch(for: delimiter))
    }

    private func nextOfContent() async throws -> Data? {
        guard let piece = try await content?.reader.next() else { return nil }
        guard content?.search.finds(in: piece) != true else {
            throw MultipartPieces.containsBoundary(content?.name ?? "", stage: .transfer)
        }
        return piece
    }
}
