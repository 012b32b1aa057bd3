import Foundation

/// A page of Markdown and the blocks of code in it.
struct Page {
    /// A fenced block of code (CommonMark, section 4.5).
    struct Block {
        /// The first word after the opening fence, such as `swift`; empty if there is none.
        let language: String
        /// The number of the first line of the content, from 1.
        let line: Int
        let lines: [String]
    }

    struct UnclosedBlock: Error {
        let page: String
        let line: Int
    }

    /// The path of the page, from the root of the package.
    let path: String
    let text: String
    let blocks: [Block]

    init(path: String, text: String) throws {
        self.path = path
        self.text = text
        blocks = try Self.blocks(of: text, path: path)
    }

    /// Reads a page of this package.
    init(_ path: String) throws {
        try self.init(path: path, text: String(contentsOf: Package.root.appending(path: path), encoding: .utf8))
    }

    /// The name without folders and extension: that of the page's preamble.
    var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

    /// The Swift samples: all blocks whose language begins with `swift`, so that none escapes by its spelling.
    var samples: [Block] { blocks.filter { $0.language.lowercased().hasPrefix("swift") } }

    /// The commands of the blocks of shell, one a line.
    var commands: [String] {
        blocks.filter { $0.language == "sh" }.flatMap(\.lines).filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }

    /// The targets of the links that lead to files beside the page.
    var relativeLinks: [String] {
        text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) }
            .filter { !$0.contains("://") && !$0.hasPrefix("#") && !$0.hasPrefix("doc:") }
            .map { String($0.prefix { $0 != "#" }) }
    }

    private static func blocks(of text: String, path: String) throws -> [Block] {
        var blocks: [Block] = []
        var open: (fence: Substring, indentation: Int, language: String, line: Int)?
        var lines: [String] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.drop { $0 == " " }
            let fence = content.prefix { $0 == "`" }
            let rest = content.dropFirst(fence.count).trimmingCharacters(in: .whitespaces)
            if let block = open {
                if fence.count >= block.fence.count, rest.isEmpty {
                    blocks.append(Block(language: block.language, line: block.line, lines: lines))
                    open = nil
                } else {
                    lines.append(String(line.dropFirst(min(block.indentation, line.count - content.count))))
                }
            } else if fence.count >= 3 {
                let language = rest.prefix { !$0.isWhitespace }
                open = (fence, line.count - content.count, String(language), index + 2)
                lines = []
            }
        }
        if let block = open { throw UnclosedBlock(page: path, line: block.line - 1) }
        return blocks
    }
}
