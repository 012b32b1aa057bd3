import Foundation

/// Makes files that the compiler takes of the samples of pages.
///
/// A page becomes one file: first its preamble, the file of its name in `Preambles`, if it has one, which declares what the
/// samples take for granted; then each sample as the body of an asynchronous function that throws. A sample with an
/// `extension` or a test stands at the top of the file instead. Its imports are hoisted, its lines stay as they are, and what
/// the compiler says names the page and the line there.
struct Samples {
    let page: Page
    let preamble: String

    init(_ page: Page) throws {
        self.page = page
        let file = Package.root.appending(path: "Tests/DocumentationTests/Preambles/\(page.name).swift")
        let isThere = FileManager.default.fileExists(atPath: file.path)
        preamble = isThere ? try String(contentsOf: file, encoding: .utf8) : ""
    }

    /// The file, without manifests.
    var source: String {
        let samples = page.samples.filter { !$0.isManifest }
        let imports = Set(samples.flatMap(\.lines).filter(\.isImport)).sorted()
        return (imports + [preamble] + samples.map(wrapped)).joined(separator: "\n") + "\n"
    }

    private func wrapped(_ sample: Page.Block) -> String {
        let lines = sample.lines.map { $0.isImport ? "" : $0 }
        let code = [#"#sourceLocation(file: "\#(page.path)", line: \#(sample.line))"#] + lines + ["#sourceLocation()"]
        if sample.isAtFileScope { return code.joined(separator: "\n") }
        return (["private func sampleAtLine\(sample.line)() async throws {"] + code + ["}"]).joined(separator: "\n")
    }
}

extension Page.Block {
    /// Whether this is a whole Package.swift.
    var isManifest: Bool { lines.first?.hasPrefix("// swift-tools-version:") == true }

    // What cannot stand in a function.
    fileprivate var isAtFileScope: Bool { lines.contains { $0.hasPrefix("extension ") || $0.hasPrefix("@Test ") } }
}

extension String {
    fileprivate var isImport: Bool { hasPrefix("import ") }
}
