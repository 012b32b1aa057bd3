import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    private let readme: Page
    /// The manifest without white space.
    private let manifest: String

    init() throws {
        readme = try Page("README.md")
        manifest = try String(contentsOf: Package.root.appending(path: "Package.swift"), encoding: .utf8)
            .filter { !$0.isWhitespace }
    }

    @Test func `It is short`() {
        #expect(readme.text.split(separator: "\n", omittingEmptySubsequences: false).count <= 125)
    }

    @Test func `Its first two commands run the demonstration and the tests`() {
        #expect(readme.commands.prefix(2).map { $0.hasSuffix(" urlrequest demo") } == [true, false])
        #expect(readme.commands.prefix(2).map { $0.hasSuffix(" swift test") } == [false, true])
    }

    @Test func `Every script of a command exists and is executable`() {
        let scripts = readme.commands.flatMap { $0.split(separator: " ") }.filter {
            $0.hasPrefix(".") && $0.contains("/")
        }
        .filter { !$0.hasPrefix(".build/") }
        #expect(!scripts.isEmpty)
        for script in scripts {
            #expect(FileManager.default.isExecutableFile(atPath: Package.root.appending(path: String(script)).path))
        }
    }

    @Test func `Every trait and product of a command is declared`() {
        for command in readme.commands {
            for match in command.matches(of: /--traits (\w+)/) {
                #expect(manifest.contains(#".trait(name:"\#(match.output.1)""#), "\(command)")
            }
            for match in command.matches(of: /--product (\w+)/) {
                #expect(manifest.contains(#".executable(name:"\#(match.output.1)""#), "\(command)")
            }
        }
    }

    @Test func `The tool and Getting started name the newest version of the changelog`() throws {
        let changelog = try Page("CHANGELOG.md")
        let version = try #require(changelog.text.firstMatch(of: /\n## \[(\d+\.\d+\.\d+)\]/)).output.1
        let tool = try String(
            contentsOf: Package.root.appending(path: "Sources/urlrequest/Command/Tool.swift"), encoding: .utf8)
        #expect(tool.contains("version: \"\(version)\""))
        let article = try Page("Sources/RequestOperations/RequestOperations.docc/GettingStarted.md")
        #expect(article.text.contains("from: \"\(version)\")"))
    }

    @Test func `The check runs the readmes test command`() throws {
        let check = try String(contentsOf: Package.root.appending(path: ".ci/run"), encoding: .utf8)
        let command = try #require(readme.commands.first { $0.hasSuffix(" swift test") })
        #expect(check.contains(command))
    }
}
