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

    /// The value of an attribute.
    public subscript(attribute name: String) -> String? {
        attributes[name]
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
    /// - Throws: An `NSError` from Foundation's parser, or an ``XMLTree/Unreadable``.
    public init(parsing document: Data) throws {
        guard let text = XMLProlog(document).inUTF8 else { throw Unreadable.encoding }
        guard let plain = XMLInstructions.removed(from: text) else { throw Unreadable.incomplete }
        guard !XMLProlog(plain).hasInternalSubset else { throw Unreadable.internalSubset }
        self = try XMLTreeBuilder().tree(of: plain)
    }

    /// Why a document could not be read when the parser gives no reason.
    public enum Unreadable: Error, Sendable {
        /// Elements are nested more than 256 deep.
        case tooDeep
        /// There is no complete element.
        case incomplete
        /// The bytes are not valid in the encoding of the document, or that is unknown.
        case encoding
        /// The document type has declarations inside the document (XML 1.0, section 2.8).
        case internalSubset
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
            throw RequestError(.emptyBody, stage: .decode, head: response.head, reason: "a document has an element")
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
