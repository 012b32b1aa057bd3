#if canImport(FoundationXML)
    import FoundationXML
#endif

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
        guard isWhole, let root else { throw parser.parserError ?? XMLTree.Unreadable.incomplete }
        return root
    }

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < Self.maximumDepth else {
            problem = XMLTree.Unreadable.tooDeep
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
