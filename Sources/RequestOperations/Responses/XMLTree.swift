#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An element of an XML document, with everything in it.
///
/// ```swift
/// let operation = URLRequestOperation(request, decoder: .xml)
/// let feed = try await operation.value
/// let titles = feed.children("entry").compactMap { $0.child("title")?.text }
/// ```
public struct XMLTree: Sendable, Hashable {
    /// The name as written, with its prefix: `atom:link`.
    public let name: String
    /// The attributes by their names as written.
    public let attributes: [String: String]
    /// The content of the element, in order.
    public let content: [Content]

    /// A piece of an element's content.
    public enum Content: Sendable, Hashable {
        /// An element.
        case element(XMLTree)
        /// Text, including CDATA sections. Two texts never follow each other.
        case text(String)
    }

    /// The elements directly in this element.
    public var children: [XMLTree] {
        content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The elements directly in this element with a name, as written.
    public func children(_ name: String) -> [XMLTree] {
        children.filter { $0.name == name }
    }

    /// The first element directly in this element with a name, as written.
    public func child(_ name: String) -> XMLTree? {
        children.first { $0.name == name }
    }

    /// All text in this element and in the elements inside it, in order. Space is kept as written.
    public var text: String {
        content.map { piece in
            switch piece {
            case .element(let element): element.text
            case .text(let text): text
            }
        }
        .joined()
    }
}

extension XMLTree {
    /// Reads a document.
    ///
    /// Comments and processing instructions are left out. External entities are never loaded. A document that declares its own
    /// entities is rejected, because the parser would leave them out. An element may be nested in at most 256 others. Prefixes
    /// need not be declared: names stay as written.
    ///
    /// - Throws: An `NSError` from Foundation's parser, or a ``RequestError`` with the code ``RequestError/Code/undecodable``.
    public init(parsing document: Data) throws {
        guard let text = XMLProlog(document).inUTF8 else {
            throw Self.unreadable("the document is not valid in its encoding, or that is unknown")
        }
        guard let plain = XMLInstructions.removed(from: text) else { throw Self.unreadable(XMLTreeBuilder.incomplete) }
        guard !XMLProlog(plain).hasInternalSubset else {
            throw Self.unreadable("the document type has declarations inside the document")
        }
        self = try XMLTreeBuilder().tree(of: plain)
    }

    /// The error for a document that cannot be read, when the parser gives no reason.
    fileprivate static func unreadable(_ reason: String) -> RequestError {
        RequestError(.undecodable, stage: .decode, reason: reason)
    }
}

extension ResponseDecoder where Value == XMLTree {
    /// The outermost element of an XML document. An empty body fails as ``RequestError/Code/emptyBody``.
    ///
    /// A byte order mark decides the encoding, otherwise the charset that the response declares, otherwise the document
    /// itself (RFC 7303, section 3).
    public static let xml = ResponseDecoder { response in
        let body = try response.bodyInMemory
        guard !body.isEmpty else {
            throw RequestError(
                .emptyBody, stage: .decode, head: response.head, reason: "an empty body is not a document")
        }
        return try XMLTree(parsing: XMLProlog(body).hasByteOrderMark ? body : response.declaredText(of: body))
    }
}

extension TransportResponse {
    /// The document in UTF-8, if the response declares its charset. Its own declaration may name another charset, so
    /// that is removed.
    fileprivate func declaredText(of document: Data) throws -> Data {
        guard let charset = try head.declaredCharset else { return document }
        guard let text = charset.text(of: document) else {
            throw RequestError(
                .undecodable, stage: .decode, head: head, reason: "the body is not valid in its charset")
        }
        return XMLProlog(Data(text.utf8)).withoutDeclaration
    }
}

/// Builds a tree from the reports of Foundation's XML parser.
final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    /// An element that has begun and not ended.
    private struct Open {
        let name: String
        let attributes: [String: String]
        var content: [XMLTree.Content] = []
        /// The text after the content so far. It arrives in many pieces.
        var text = ""

        mutating func append(_ element: XMLTree) {
            endText()
            content.append(.element(element))
        }

        mutating func endText() {
            if !text.isEmpty { content.append(.text(text)) }
            text = ""
        }
    }

    static let incomplete = "there is no complete element"
    private static let maximumDepth = 256
    /// The error code of libxml2 for an undeclared prefix. Foundation's parser uses libxml2.
    private static let undeclaredPrefix = 201

    private var open: [Open] = []
    private var root: XMLTree?
    private var problem: (any Error)?

    func tree(of document: Data) throws -> XMLTree {
        let parser = XMLParser(data: document)
        parser.shouldResolveExternalEntities = false
        parser.delegate = self
        let isWhole = parser.parse()
        if let problem { throw problem }
        guard isWhole, let root else { throw parser.parserError ?? XMLTree.unreadable(Self.incomplete) }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < Self.maximumDepth else {
            problem = XMLTree.unreadable("elements are nested more than \(Self.maximumDepth) deep")
            parser.abortParsing()
            return
        }
        open.append(Open(name: elementName, attributes: attributes))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard problem == nil, var ended = open.popLast() else { return }
        ended.endText()
        let element = XMLTree(name: ended.name, attributes: ended.attributes, content: ended.content)
        if open.isEmpty { root = element } else { open[open.count - 1].append(element) }
    }

    func parser(_ parser: XMLParser, foundCharacters text: String) {
        append(text)
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        // The parser has already refused a document that is not valid in its encoding.
        append(String(decoding: block, as: UTF8.self))
    }

    private func append(_ text: String) {
        guard problem == nil, !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        // We keep names as they are written. So an undeclared prefix is not an error.
        guard (error as NSError).code != Self.undeclaredPrefix else { return }
        problem = problem ?? error
    }
}

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

/// The processing instructions of an XML document (XML 1.0, section 2.6).
///
/// A tree has none of them. Foundation's parser on Linux crashes at a valid instruction without data, such as `<?a?>`. So the
/// parser never gets any.
enum XMLInstructions {
    /// Removes all processing instructions from a document in UTF-8. Comments and CDATA sections have none. What follows an
    /// instruction without an end is removed too.
    ///
    /// - Returns: `nil` if an instruction follows a `<`. No valid document has that, and the removal could make a new
    ///   instruction: `<<?a?>?b?>`.
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
