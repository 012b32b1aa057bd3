import Foundation
import Testing

/// What the compiler says about a program that imports the modules.
@Suite(.timeLimit(.minutes(10))) struct DiagnosticsTests {
    @Test func `A wrong case of an enum of one's own is named as such`() async throws {
        let program = """
            import OfflineRequests
            import RequestOperations

            enum Color { case red, mixed(Int) }

            func number(of color: Color) -> Int {
                switch color {
                case .red: 1
                case .blue: 2
                default: 3
                }
            }
            """
        let outcome = try await Tool.withFolder { folder in
            let file = folder.appending(path: "Program.swift")
            try Data(program.utf8).write(to: file)
            return try await Tool.run(try Tool.compiler() + [file.path], in: folder)
        }
        #expect(outcome.output.contains("type 'Color' has no member 'blue'"), "\(outcome.output)")
        #expect(!outcome.output.contains("Code"), "\(outcome.output)")
    }
}
