/// A part of a file in a partial file of its own, until what comes before it is there.
struct FileSegment: Sendable {
    /// Where in the whole file the part begins.
    let start: Int64
    let file: PartialFile

    /// Where the part ends at present. Only the queue of the download asks.
    var end: Int64 { start + file.size }
}

/// Bytes of a file that one request asks for, and the file that they are appended to.
struct MissingSegment: Sendable {
    let segment: FileSegment
    let range: Range<Int64>
    let validator: StrongValidator
    /// The length of the whole file.
    let total: Int64
}
