/// The pieces of a multipart body, in order: framing and contents.
struct MultipartPieces: Sendable {
    enum Piece: Sendable {
        /// The lines before, between and after the parts.
        case framing(Data)
        case content(RequestBody, name: String)
    }

    let pieces: [Piece]
    /// The boundary with the line break and the `--` before it.
    let delimiter: Data
    /// The number of bytes; `nil` if the size of a part is not known.
    let length: Int64?
    let isReplayable: Bool

    init(of form: MultipartFormData) throws {
        delimiter = Data("\r\n--\(form.boundary)".utf8)
        var pieces: [Piece] = []
        var length: Int64? = 0
        func add(_ size: Int64?) throws {
            guard let known = length, let size else {
                length = nil
                return
            }
            let (sum, isOverflow) = known.addingReportingOverflow(size)
            guard size >= 0, !isOverflow else {
                throw RequestError(
                    .unencodableBody, stage: .process,
                    reason: "the length of a part is negative, or the lengths overflow")
            }
            length = sum
        }
        func add(framing text: String) throws {
            let data = Data(text.utf8)
            pieces.append(.framing(data))
            try add(Int64(data.count))
        }
        for (index, part) in form.parts.enumerated() {
            try add(framing: (index == 0 ? "" : "\r\n") + "--\(form.boundary)\r\n" + part.fields + "\r\n")
            pieces.append(.content(part.content, name: part.name))
            try add(part.size)
        }
        try add(framing: (form.parts.isEmpty ? "" : "\r\n") + "--\(form.boundary)--\r\n")
        self.pieces = pieces
        self.length = length
        isReplayable = form.parts.allSatisfy(\.content.isReplayable)
        for part in form.parts {
            guard case .data(let data) = part.content else { continue }
            var search = BoundarySearch(for: delimiter)
            guard !search.finds(in: data) else { throw Self.containsBoundary(part.name, stage: .process) }
        }
    }

    /// The error for a part that contains the boundary, which would end the part early.
    static func containsBoundary(_ name: String, stage: RequestError.Stage) -> RequestError {
        RequestError(.unencodableBody, stage: stage, reason: "the part '\(name.inHeader)' contains the boundary")
    }
}

extension MultipartFormData.Part {
    /// The fields of the part, each with its line break.
    fileprivate var fields: String {
        get throws {
            var fields = "Content-Disposition: form-data; name=\"\(name.inHeader)\""
            if let fileName { fields += "; filename=\"\(fileName.inHeader)\"" }
            fields += "\r\n"
            guard let contentType else { return fields }
            guard RequestPreflight.isFieldValue(contentType) else {
                throw RequestError(
                    .unencodableBody, stage: .process,
                    reason: "the media type of the part '\(name.inHeader)' has a line break or a NUL")
            }
            return fields + "Content-Type: \(contentType)\r\n"
        }
    }

    /// The number of bytes in the content; `nil` for a stream of unknown length.
    fileprivate var size: Int64? {
        get throws {
            do { return try content.size } catch {
                throw RequestError(
                    .unencodableBody, stage: .process, underlying: error,
                    reason: "the size of the file of the part '\(name.inHeader)' cannot be read")
            }
        }
    }
}

extension String {
    /// The text as written between the quotation marks of a part's field.
    ///
    /// The text is read by scalars, because CR and LF together are one `Character`.
    ///
    /// Many parsers understand escapes (RFC 822). For them, a backslash at the end would escape the quotation mark, and
    /// the name would continue. No escape of a backslash has the same meaning for all parsers, but `%5C` is safe for
    /// each.
    var inHeader: String {
        let endsInBackslash = unicodeScalars.last == "\\"
        var escaped = String.UnicodeScalarView()
        for scalar in unicodeScalars.dropLast(endsInBackslash ? 1 : 0) {
            switch scalar {
            case "\"": escaped.append(contentsOf: "%22".unicodeScalars)
            case "\r": escaped.append(contentsOf: "%0D".unicodeScalars)
            case "\n": escaped.append(contentsOf: "%0A".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped) + (endsInBackslash ? "%5C" : "")
    }
}

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
            if let piece = try await nextOfContent() { return piece }
            switch pieces.popFirst() {
            case nil: return nil
            case .framing(let data): return data
            // Content in memory was already searched for the boundary.
            case .content(.none, _): continue
            case .content(.data(let data), _): return data
            case .content(let body, let name):
                content = Content(name: name, reader: try await body.reader(), search: BoundarySearch(for: delimiter))
            }
        }
    }

    private func nextOfContent() async throws -> Data? {
        guard let piece = try await content?.reader.next() else {
            content = nil
            return nil
        }
        guard content?.search.finds(in: piece) != true else {
            throw MultipartPieces.containsBoundary(content?.name ?? "", stage: .transfer)
        }
        return piece
    }
}

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
            if bytes[end] == delimiter[last], bytes[(end - last)...end].elementsEqual(delimiter) { return true }
            end += steps[Int(bytes[end])]
        }
        return false
    }
}
