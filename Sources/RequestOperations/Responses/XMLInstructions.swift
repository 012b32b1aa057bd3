/// The processing instructions of an XML document (XML 1.0, section 2.6).
///
/// A tree has none of them. Foundation's parser on Linux crashes at one without data, such as `<?a?>`, which is valid. So it
/// never gets any.
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
                rest = rest.dropFirst(2).after("?>")
            } else {
                let next = Self.after(markup: rest)
                kept += rest[..<next.startIndex]
                rest = next
            }
        }
        return Data(kept + rest)
    }

    /// What follows a comment or a CDATA section, or the first byte of anything else.
    private static func after(markup: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        if markup.starts(with: "<!--".utf8) { return markup.dropFirst(4).after("-->") }
        if markup.starts(with: "<![CDATA[".utf8) { return markup.dropFirst(9).after("]]>") }
        return markup.dropFirst()
    }
}

extension ArraySlice<UInt8> {
    /// What follows a mark in a document; nothing without one.
    func after(_ mark: String) -> ArraySlice<UInt8> {
        let mark = Array(mark.utf8)
        var rest = self
        while let next = rest.firstIndex(of: mark[0]) {
            if rest[next...].starts(with: mark) { return rest[(next + mark.count)...] }
            rest = rest[(next + 1)...]
        }
        return suffix(0)
    }
}
