#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Makes a tree of what Foundation's XML parser reports.
final class XMLTreeBuilder: NSObject, XMLParserDelegate {
    /// An element whose end has not been read.
    private struct Open {
        let name: String
        let attributes: [String: String]
        var content: [XMLTree.Content] = []
        /// Text that comes after the content: it arrives in many pieces.
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
    /// The code of libxml2, on which Foundation's parser stands, for a prefix that is not declared.
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
        // A document that is not valid in its encoding is refused before.
        append(String(decoding: block, as: UTF8.self))
    }

    private func append(_ text: String) {
        guard problem == nil, !open.isEmpty else { return }
        open[open.count - 1].text += text
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        // Names stay as they are written, whatever their prefixes mean.
        guard (error as NSError).code != Self.undeclaredPrefix else { return }
        problem = problem ?? error
    }
}
