import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct SampleTests {
    @Test func `Every sample compiles`() async throws {
        let outcome = try await Tool.withFolder { folder in
            var files: [String] = []
            for page in try Package.pages() where !page.samples.isEmpty {
                let file = folder.appending(path: "\(page.name).swift")
                try Data(try Samples(page).source.utf8).write(to: file)
                files.append(file.path)
            }
            #expect(!files.isEmpty)
            return try await Tool.run(try Tool.compiler() + files, in: folder)
        }
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func `Every manifest is accepted`() async throws {
        for page in try Package.pages() {
            for sample in page.samples where sample.isManifest {
                let outcome = try await Tool.withFolder { folder in
                    let manifest = folder.appending(path: "Package.swift")
                    try Data(sample.lines.joined(separator: "\n").utf8).write(to: manifest)
                    return try await Tool.run(["swift", "package", "dump-package"], in: folder)
                }
                #expect(outcome.status == 0, "\(page.path):\(sample.line): \(outcome.output)")
            }
        }
    }

    @Test func `Every block names its language`() throws {
        for page in try Package.pages() {
            for block in page.blocks { #expect(!block.language.isEmpty, "\(page.path):\(block.line)") }
        }
    }

    @Test func `Every preamble has its page`() throws {
        let names = Set(try Package.pages().filter { !$0.samples.isEmpty }.map(\.name))
        let folder = Package.root.appending(path: "Tests/DocumentationTests/Preambles")
        let preambles = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        for preamble in preambles {
            #expect(names.contains(preamble.deletingPathExtension().lastPathComponent), "\(preamble.path)")
        }
    }
}
