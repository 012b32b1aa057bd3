/// The processing instructions of an XML document (XML 1.0, section 2.6).
///
/// A tree has none of them. Foundation's parser on Linux crashes at one without data, such as `<?a?>`, which is valid. So it never
/// gets any.
enum XMLInstructions {
    /// Removes all processing instructions from a document in UTF-8. In comments and CDATA sections there are none. What
    /// follows one without an end is removed too.
    ///
    /// - Returns: `nil` if one follows a `<`. No document has that, and a new instruction could come of it: `<<?a?>?b?>`.
    static func removed(from document: Data) -> Data? {
        let bytes = [UInt8](document)
        var rest = bytes[...]
        var kept: [UInt8] = []
        while let mark = rest.firstIndex(of: UInt8(ascii: "<")) {
            kept += rest[..<mark]
            rest = rest[mark...]
            if rest.starts(with: "<?".utf8) {
                guard kept.last != UInt8(ascii: "<") else { return nil }
                rest = rest[end("?>", in: rest.dropFirst(2))...]
            } else {
                let end = Self.end(ofMarkupIn: rest)
                kept += rest[..<end]
                rest = rest[end...]
            }
        }
        return Data(kept + rest)
    }

    /// The end of a comment or a CDATA section, or the place after the first byte of anything else.
    private static func end(ofMarkupIn markup: ArraySlice<UInt8>) -> Int {
        if markup.starts(with: "<!--".utf8) { return end("-->", in: markup.dropFirst(4)) }
        if markup.starts(with: "<![CDATA[".utf8) { return end("]]>", in: markup.dropFirst(9)) }
        return markup.startIndex + 1
    }

    /// The place after a mark, or the end of the bytes.
    private static func end(_ mark: String, in bytes: ArraySlice<UInt8>) -> Int {
        let mark = Array(mark.utf8)
        var place = bytes.startIndex
        while place + mark.count <= bytes.endIndex {
            guard let next = bytes[place...].firstIndex(of: mark[0]) else { break }
            if bytes[next...].starts(with: mark) { return next + mark.count }
            place = next + 1
        }
        return bytes.endIndex
    }
}
