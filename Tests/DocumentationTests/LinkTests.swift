import Foundation
import Testing

/// The pages as GitHub shows them.
@Suite(.timeLimit(.minutes(10))) struct LinkTests {
    private let pages: [Page]

    init() throws {
        pages = try Package.pages() + [Page("CHANGELOG.md")]
    }

    @Test func `Each link and picture leads to a file and an anchor that exist`() throws {
        for page in pages {
            for link in page.links where !link.contains("://") {
                #expect(try leads(link, from: page), "\(page.path): \(link)")
            }
        }
    }

    private func leads(_ link: String, from page: Page) throws -> Bool {
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = parts[0].isEmpty ? page.path : path(of: String(parts[0]), beside: page)
        guard let target, FileManager.default.fileExists(atPath: Package.root.appending(path: target).path) else {
            return false
        }
        guard parts.count > 1 else { return true }
        return try Page(target).anchors.contains(String(parts[1]))
    }

    /// The path of a relative reference, from the root of the package. `nil` for what lies elsewhere.
    private func path(of reference: String, beside page: Page) -> String? {
        let folder = Package.root.appending(path: page.path).deletingLastPathComponent()
        let (file, root) = (folder.appending(path: reference).standardizedFileURL.path, Package.root.path + "/")
        return file.hasPrefix(root) ? String(file.dropFirst(root.count)) : nil
    }

    @Test func `Links of DocC stand only in the topics of a landing page and lead to articles`() throws {
        for page in pages {
            var prose = page.prose
            if page.text.hasPrefix("# ``"), let topics = prose.range(of: "## Topics") {
                for link in prose[topics.lowerBound...].matches(of: /<doc:([^>]+)>/) {
                    let article = path(of: "\(link.output.1).md", beside: page)
                    #expect(pages.contains { $0.path == article }, "\(link.output.0)")
                }
                prose = String(prose[..<topics.lowerBound])
            }
            #expect(!prose.contains("<doc:") && !prose.contains("@Metadata"), "\(page.path)")
            #expect(page.text.hasPrefix("# ``") || !page.text.contains(/(?m)(^|[^`])``[^`]+``($|[^`])/), "\(page.path)")
        }
    }

    @Test func `The files and the code that the architecture shows are those of the sources`() throws {
        let page = try Page("Sources/RequestOperations/RequestOperations.docc/Architecture.md")
        let sources = Package.root.appending(path: "Sources/RequestOperations")
        for name in page.text.matches(of: /\*\*(\w+\/[\w+]+\.swift)/).map({ String($0.output.1) }) {
            #expect(FileManager.default.fileExists(atPath: sources.appending(path: name).path), "\(name)")
        }
        let code = try ["Request/RetryingOperation.swift", "Request/URLRequestOperation.swift"].map {
            try String(contentsOf: sources.appending(path: $0), encoding: .utf8)
        }
        let shown = page.blocks.filter { $0.language == "text" && $0.lines.contains { $0.contains("func ") } }
        #expect(shown.count == 2)
        for block in shown {
            let text = block.lines.map { $0.isEmpty ? "" : "    \($0)" }.joined(separator: "\n")
            #expect(code.contains { $0.contains(text) }, "\(block.lines[0])")
        }
    }
}
