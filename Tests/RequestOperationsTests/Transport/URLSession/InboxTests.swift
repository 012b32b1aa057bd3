import Foundation
import Testing

@testable import RequestOperations

struct InboxTests {
    private func content(of pieces: Inbox.Pieces?) async throws -> Data {
        let content = Locked(Data())
        try await pieces?.deliver { piece in content.withLock { $0.append(piece) } }
        return content.withLock { $0 }
    }

    @Test func `What is taken comes in the order in which it arrived`() async throws {
        var inbox = Inbox()
        inbox.append(Data("a".utf8))
        inbox.append(Data("b".utf8))
        #expect(try await content(of: inbox.take()) == Data("ab".utf8))
        #expect(inbox.take()?.chunks == nil)
    }

    @Test func `Memory is full after 1 MiB`() {
        var inbox = Inbox()
        inbox.append(Data(count: (1 << 20) - 1))
        #expect(inbox.hasRoom)
        inbox.append(Data(count: 1))
        #expect(!inbox.hasRoom)
    }

    @Test func `Nothing overtakes what is in the file`() async throws {
        var inbox = Inbox()
        inbox.append(Data("a".utf8))
        let file = try TemporaryFile()
        try file.append(Data("bc".utf8))
        inbox.spilled(2, into: file)
        #expect(!inbox.hasRoom)
        #expect(try await content(of: inbox.take()) == Data("abc".utf8))
        #expect(inbox.hasRoom)
    }

    @Test func `A file is read from where it was left`() async throws {
        var inbox = Inbox()
        let file = try TemporaryFile()
        for text in ["ab", "cde"] {
            try file.append(Data(text.utf8))
            inbox.spilled(text.utf8.count, into: file)
            #expect(try await content(of: inbox.take()) == Data(text.utf8))
        }
    }

    @Test func `A prefix is taken across pieces and leaves them there`() {
        var inbox = Inbox()
        inbox.append(Data("abc".utf8))
        inbox.append(Data("def".utf8))
        #expect(inbox.prefix(4) == Data("abcd".utf8))
        #expect(inbox.takeBody() == Data("abcdef".utf8))
    }

    @Test func `A temporary file is the user's own and goes with its last reference`() throws {
        var file: TemporaryFile? = try TemporaryFile()
        let path = try #require(file?.url.path)
        let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        file = nil
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
