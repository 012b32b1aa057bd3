/// What comes before the first element of an XML document (XML 1.0, section 2.8).
struct XMLProlog {
    private let document: Data

    init(_ document: Data) {
        self.document = document
    }

    /// Whether a byte order mark before the first character names the encoding.
    var hasByteOrderMark: Bool { encodingOfMark != nil }

    /// The document in UTF-8, without byte order mark. `nil` if it is not valid in its encoding.
    ///
    /// Foundation's parser on Linux traps when a name is not valid in UTF-8, which libxml2 lets pass. So the document is
    /// decoded first: by its byte order mark, by the zeros around its first character, or by its declaration (XML 1.0,
    /// section 4.3.3 and appendix F). The default is UTF-8.
    var inUTF8: Data? {
        var text: String?
        if let encoding = encodingOfMark ?? encodingOfZeros {
            text = Charset(encoding).text(of: document)
        } else if let name = declaredEncoding, name.lowercased() != "utf-8" {
            text = Charset(name: name)?.text(of: document)
        } else {
            text = String(data: document, encoding: .utf8)
        }
        if text?.unicodeScalars.first == "\u{FEFF}" { text?.unicodeScalars.removeFirst() }
        return text.map { Data($0.utf8) }
    }

    /// The encoding that the XML declaration names; `nil` without one.
    private var declaredEncoding: String? {
        guard document.starts(with: "<?xml".utf8) else { return nil }
        // A declaration is ASCII in all encodings that come here.
        let declaration = String(decoding: document.prefix(Self.longestDeclaration), as: UTF8.self)
        let attributes = declaration.dropFirst(5).prefix { $0 != "?" }.components(separatedBy: "encoding")
        guard attributes.count > 1 else { return nil }
        let value = attributes[1].drop { $0.isWhitespace || $0 == "=" }
        guard let mark = value.first, mark == "\"" || mark == "'" else { return nil }
        return String(value.dropFirst().prefix { $0 != mark })
    }

    private static let longestDeclaration = 256

    /// Whether the document type has declarations inside the document, which must be UTF-8 without processing instructions.
    var hasInternalSubset: Bool {
        var rest = [UInt8](document)[...]
        while true {
            rest = rest.drop { [0x20, 0x09, 0x0D, 0x0A].contains($0) }
            guard rest.starts(with: "<!--".utf8) else {
                return rest.starts(with: "<!DOCTYPE".utf8) && Self.opensSubset(rest)
            }
            rest = rest.dropFirst(4).after("-->")
        }
    }

    /// The document without its XML declaration, which may name another encoding. The document must be UTF-8 without a
    /// byte order mark.
    var withoutDeclaration: Data {
        let bytes = [UInt8](document)
        guard bytes.starts(with: "<?xml".utf8), bytes.count > 5, [0x20, 0x09, 0x0D, 0x0A].contains(bytes[5]) else {
            return document
        }
        return Data(bytes[...].after("?>"))
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
