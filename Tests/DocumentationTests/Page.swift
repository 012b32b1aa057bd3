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

    /// The lines that stand in no block of code.
    private var lines: [Substring] {
        let inBlocks = Set(blocks.flatMap { $0.line - 1...$0.line + $0.lines.count })
        return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
            .filter { !inBlocks.contains($0.offset + 1) }.map(\.element)
    }

    /// The text without its code.
    var prose: String { lines.joined(separator: "\n").replacing(/(`+)[^`]+\1/, with: "") }

    /// The targets of all links and pictures.
    var links: [String] {
        prose.matches(of: /\]\(([^)\s]+)[^)]*\)/).map { String($0.output.1) }
            + prose.matches(of: /(?m)^\[[^\]]+\]: +(\S+)/).map { String($0.output.1) }
    }

    /// The anchors of the headings, as GitHub makes them.
    var anchors: [String] {
        var counts: [String: Int] = [:]
        return lines.compactMap { $0.wholeMatch(of: /#{1,6} +(.+)/)?.output.1 }.map { heading in
            let anchor = heading.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                .replacing(" ", with: "-")
            defer { counts[anchor, default: 0] += 1 }
            return counts[anchor].map { "\(anchor)-\($0)" } ?? anchor
        }
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
