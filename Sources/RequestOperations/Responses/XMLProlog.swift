/// What comes before the first element of an XML document (XML 1.0, section 2.8).
struct XMLProlog {
    private let document: Data

    init(_ document: Data) {
        self.document = document
    }

    /// Whether a byte order mark before the first character names the encoding.
    var hasByteOrderMark: Bool { encodingOfMark != nil }

    /// Whether the document type has declarations inside the document.
    var hasInternalSubset: Bool {
        var rest = text[...]
        while true {
            rest = rest.drop { [0x20, 0x09, 0x0D, 0x0A].contains($0) }
            if rest.starts(with: "<?".utf8) {
                rest = Self.after("?>", in: rest.dropFirst(2))
            } else if rest.starts(with: "<!--".utf8) {
                rest = Self.after("-->", in: rest.dropFirst(4))
            } else {
                return rest.starts(with: "<!DOCTYPE".utf8) && Self.opensSubset(rest)
            }
        }
    }

    /// The document without its XML declaration, which may name another encoding. The document must be UTF-8 without a
    /// byte order mark.
    var withoutDeclaration: Data {
        let bytes = [UInt8](document)
        guard bytes.starts(with: "<?xml".utf8), bytes.count > 5, [0x20, 0x09, 0x0D, 0x0A].contains(bytes[5]) else {
            return document
        }
        return Data(Self.after("?>", in: bytes[...]))
    }

    /// Whether a bracket outside of literals comes before the end of a document type.
    private static func opensSubset(_ documentType: ArraySlice<UInt8>) -> Bool {
        var literal: UInt8?
        for byte in documentType {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if literal == nil { literal = byte } else if literal == byte { literal = nil }
            case UInt8(ascii: "[") where literal == nil: return true
            case UInt8(ascii: ">") where literal == nil: return false
            default: break
            }
        }
        return false
    }

    private static func after(_ end: String, in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let end = Array(end.utf8)
        var rest = bytes
        while rest.count >= end.count {
            if rest.starts(with: end) { return rest.dropFirst(end.count) }
            rest = rest.dropFirst()
        }
        return rest.suffix(0)
    }

    /// The document as ASCII bytes. In encodings other than UTF-16 and UTF-32, the bytes that matter here are already
    /// ASCII.
    private var text: [UInt8] {
        guard let encoding = encodingOfMark ?? encodingOfZeros else { return [UInt8](document) }
        return Charset(encoding).text(of: document).map { [UInt8]($0.utf8) } ?? [UInt8](document)
    }

    private var encodingOfMark: String.Encoding? {
        if document.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if document.starts(with: [0, 0, 0xFE, 0xFF]) || document.starts(with: [0xFF, 0xFE, 0, 0]) { return .utf32 }
        return document.starts(with: [0xFE, 0xFF]) || document.starts(with: [0xFF, 0xFE]) ? .utf16 : nil
    }

    /// The encoding of a document without a byte order mark, if its first character is `<` (XML 1.0, appendix F.1).
    private var encodingOfZeros: String.Encoding? {
        if document.starts(with: [0, 0, 0, 0x3C]) { return .utf32BigEndian }
        if document.starts(with: [0x3C, 0, 0, 0]) { return .utf32LittleEndian }
        if document.starts(with: [0, 0x3C]) { return .utf16BigEndian }
        return document.starts(with: [0x3C, 0]) ? .utf16LittleEndian : nil
    }
}
