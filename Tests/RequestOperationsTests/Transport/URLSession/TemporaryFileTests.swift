import RequestOperationsTesting
import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct TemporaryFileTests {
    @Test func `Only this user can read it`() throws {
        let file = try TemporaryFile()
        let attributes = try FileManager.default.attributesOfItem(atPath: file.url.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func `It is removed with its last reference`() throws {
        let url = try TemporaryFile().url
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func `A part is read while the rest is written`() async throws {
        let file = try TemporaryFile()
        try file.append(Data("first".utf8))
        let read = Collector<Data>()
        try await file.read(0..<5) { read.append($0) }
        try file.append(Data("second".utf8))
        try await file.read(5..<11) { read.append($0) }
        #expect(read.elements == [Data("first".utf8), Data("second".utf8)])
    }

    @Test func `A large part comes in pieces of at most 64 KiB`() async throws {
        let file = try TemporaryFile()
        let content = Data((0..<150_000).map { UInt8($0 % 251) })
        try file.append(content)
        let read = Collector<Data>()
        try await file.read(0..<content.count) { read.append($0) }
        #expect(read.elements.reduce(Data(), +) == content)
        #expect(read.elements.allSatisfy { $0.count <= 64 << 10 })
    }

    @Test func `A part that is not there fails`() async throws {
        let file = try TemporaryFile()
        await #expect(throws: CocoaError.self) { try await file.read(0..<1) { _ in } }
    }
}
