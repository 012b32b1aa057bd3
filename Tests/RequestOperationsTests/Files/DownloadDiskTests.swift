import Foundation
import RequestOperations
import RequestOperationsTesting
import Testing

/// What a disk may refuse.
@Suite(.timeLimit(.minutes(15))) struct DownloadDiskTests {
    private let folder: DownloadFolder
    private let url = URL(string: "http://a.example/path/name.txt")!

    init() throws {
        folder = try DownloadFolder()
    }

    private static func error(of operation: DownloadOperation) async -> (any Error)? {
        do {
            _ = try await run(operation)
            return nil
        } catch {
            return error
        }
    }

    /// The cause of the failure of a download, and whether anything was sent.
    private func failure(
        to destination: DownloadDestination, ifExists: ExistingFilePolicy = .replace,
        fields: [(name: String, value: String)] = []
    ) async -> (code: POSIXErrorCode?, wasSent: Bool) {
        let transport = ScriptedTransport([.body(Data("content".utf8), fields: fields)])
        let operation = DownloadOperation(
            url, to: destination, ifExists: ifExists, configuration: .downloading(over: transport))
        let error = await Self.error(of: operation) as? RequestError
        #expect(error?.code == .fileFailed)
        return ((error?.underlying as? POSIXError)?.code, !transport.requests.isEmpty)
    }

    @Test func `A destination that is a folder is refused before anything is sent`() async throws {
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: true)
        let (code, wasSent) = await failure(to: .file(folder.file()))
        #expect(code == .EISDIR && !wasSent)
    }

    @Test func `A folder that has the name of the file gets a neighbour`() async throws {
        try FileManager.default.createDirectory(at: folder.file(), withIntermediateDirectories: true)
        let transport = ScriptedTransport([.body(Data("content".utf8))])
        _ = try await run(
            DownloadOperation(
                url, to: .file(folder.file()), ifExists: .uniqueName, configuration: .downloading(over: transport)))
        #expect(folder.text("file-2") == "content")
    }

    @Test func `A folder that is a file is refused before anything is sent`() async throws {
        try folder.write("old")
        let (code, wasSent) = await failure(to: .folder(folder.file()))
        #expect(code == .ENOTDIR && !wasSent)
        #expect(await failure(to: .file(folder.file("file/name"))).code == .ENOTDIR)
        #expect(folder.text() == "old")
    }

    @Test func `A name of 300 bytes is refused before anything is sent`() async throws {
        let (code, wasSent) = await failure(to: .file(folder.file(String(repeating: "x", count: 300))))
        #expect(code == .ENAMETOOLONG && !wasSent)
    }

    @Test func `A name of 300 bytes that the server suggests is cut`() async throws {
        let name = String(repeating: "x", count: 296) + ".txt"
        let fields = [(name: "Content-Disposition", value: "attachment; filename=\(name)")]
        let transport = ScriptedTransport([.body(Data("content".utf8), fields: fields)])
        let file = try await run(
            DownloadOperation(url, to: .folder(folder.url), configuration: .downloading(over: transport)))
        #expect(file.url.lastPathComponent == String(repeating: "x", count: 236) + ".txt")
    }

    @Test func `A device is not replaced`() async throws {
        let transport = ScriptedTransport([.body(Data("content".utf8))])
        let operation = DownloadOperation(
            url, to: .file(URL(fileURLWithPath: "/dev/null")), ifExists: .replace,
            configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .fileFailed)
        #expect(transport.requests.isEmpty)
    }

    @Test(.enabled(if: getuid() != 0, "Root may write everywhere."))
    func `A folder that is read-only is an error, and nothing is left`() async throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path) }
        #expect(await failure(to: .file(folder.file())).code == .EACCES)
    }

    @Test func `A folder that vanishes is an error`() async throws {
        let folder = folder
        let transport = PartTransport([.beginning("0123", of: 8), .part("4567", "bytes 4-7/8")])
        final class Vanishing: DownloadOperation, @unchecked Sendable {
            override func validate(_ response: TransportResponse) async throws {
                try await super.validate(response)
                try FileManager.default.removeItem(at: response.file!.deletingLastPathComponent())
            }
        }
        let operation = Vanishing(url, to: .file(folder.file()), configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .fileFailed)
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
    }

    @Test func `Another file at the place of the partial one is left alone`() async throws {
        final class Replaced: DownloadOperation, @unchecked Sendable {
            override func validate(_ response: TransportResponse) async throws {
                try await super.validate(response)
                try FileManager.default.removeItem(at: response.file!)
                try Data("other".utf8).write(to: response.file!)
            }
        }
        let transport = ScriptedTransport([.body(Data("content".utf8))])
        let operation = Replaced(url, to: .file(folder.file()), configuration: .downloading(over: transport))
        #expect(await code(of: operation) == .fileFailed)
        let left = try folder.names
        #expect(left.count == 1 && folder.text(left[0]) == "other")
    }

    @Test func `What replaces a private file is private from its first byte`() async throws {
        final class Watched: DownloadOperation, @unchecked Sendable {
            override func validate(_ response: TransportResponse) async throws {
                try await super.validate(response)
                let attributes = try FileManager.default.attributesOfItem(atPath: response.file!.path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
        }
        try folder.write("old")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file().path)
        let transport = ScriptedTransport([.body(Data("content".utf8))])
        let operation = Watched(
            url, to: .file(folder.file()), ifExists: .replace, configuration: .downloading(over: transport))
        _ = try await run(operation)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file().path)
        #expect(attributes[.posixPermissions] as? Int == 0o640 && folder.text() == "content")
    }

    @Test(arguments: [("../../etc/passwd", "passwd"), ("con.txt", "_con.txt")])
    func `A name that leads elsewhere does not`(_ suggested: String, _ name: String) async throws {
        let fields = [(name: "Content-Disposition", value: #"attachment; filename="\#(suggested)""#)]
        let transport = ScriptedTransport([.body(Data("content".utf8), fields: fields)])
        _ = try await run(
            DownloadOperation(url, to: .folder(folder.url), configuration: .downloading(over: transport)))
        #expect(try folder.names == [name])
    }
}
