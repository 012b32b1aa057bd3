/// An element of an XML document, with all that is in it.
///
/// ```swift
/// let operation = URLRequestOperation(request, decoder: .xml)
/// let feed = try await operation.value
/// let titles = feed.children("entry").compactMap { $0.child("title")?.text }
/// ```
public struct XMLTree: Sendable, Hashable {
    /// The name as it is written, with its prefix: `atom:link`.
    public let name: String
    /// The attributes by their names as they are written.
    public let attributes: [String: String]
    /// What is in the element, in order.
    public let content: [Content]

    /// A piece of an element's content.
    public enum Content: Sendable, Hashable {
        /// An element.
        case element(XMLTree)
        /// Text, CDATA sections included; two such pieces never follow each other.
        case text(String)
    }

    /// The elements in it.
    public var children: [XMLTree] {
        content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// The elements in it that have a name, as it is written.
    public func children(_ name: String) -> [XMLTree] {
        children.filter { $0.name == name }
    }

    /// The first element in it that has a name, as it is written.
    public func child(_ name: String) -> XMLTree? {
        children.first { $0.name == name }
    }

    /// The value of an attribute.
    public subscript(attribute name: String) -> String? {
        attributes[name]
    }

    /// All text in it and in the elements within, in order, as it is written: space is kept.
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
    /// External entities are never loaded, and a document that declares entities of its own is refused, as the parser would
    /// leave them out. An element may have at most 256 around it. Prefixes need not be declared: names stay as they are
    /// written.
    ///
    /// - Throws: What Foundation's parser reports, an `NSError`, or an ``XMLTree/Unreadable``.
    public init(parsing document: Data) throws {
        guard !XMLProlog(document).hasInternalSubset else { throw Unreadable.internalSubset }
        self = try XMLTreeBuilder().tree(of: document)
    }

    /// Why a document could not be read, where the parser says nothing else.
    public enum Unreadable: Error, Sendable {
        /// Elements stand in one another more than 256 deep.
        case tooDeep
        /// There is no whole element.
        case incomplete
        /// The document type has declarations in the document (XML 1.0, section 2.8).
        case internalSubset
    }
}

extension ResponseDecoder where Value == XMLTree {
    /// The outermost element of an XML document. An empty body fails as ``RequestError/Code/emptyBody``.
    ///
    /// A byte order mark tells the encoding, else the charset that the response declares, else the document itself (RFC
    /// 7303, section 3).
    public static let xml = ResponseDecoder { response in
        let body = try response.bodyInMemory
        guard !body.isEmpty else {
            throw RequestError(.emptyBody, stage: .decode, head: response.head, reason: "a document has an element")
        }
        return try XMLTree(parsing: XMLProlog(body).hasByteOrderMark ? body : response.declaredText(of: body))
    }
}

extension TransportResponse {
    /// A document in UTF-8, if the response declares its charset: in its own declaration it may have another.
    fileprivate func declaredText(of document: Data) throws -> Data {
        guard let charset = try head.declaredCharset else { return document }
        guard let text = charset.text(of: document) else {
            throw RequestError(
                .undecodable, stage: .decode, head: head, reason: "the body is not valid in its charset")
        }
        return XMLProlog(Data(text.utf8)).withoutDeclaration
    }
}
