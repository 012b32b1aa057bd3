import Foundation
import Testing

@testable import RequestOperations

/// The files of an upload, which must stay as they are until the last byte was sent.
@Suite(.timeLimit(.minutes(10))) struct UnchangedFilesTests {
    private let folder: DownloadFolder
    private let files: UnchangedFiles

    init() throws {
        folder = try DownloadFolder()
        for name in ["a", "b"] { try folder.write("old", to: name) }
        files = UnchangedFiles([folder.file("a"), folder.file("b")])
        try files.check()
        try FileManager.default.removeItem(at: folder.file("a"))
    }

    @Test func `A file may be removed when its last byte was sent`() {
        #expect(throws: Never.self) { try files.check(isSent: true) }
    }

    @Test func `A file that was removed hides no change of another one`() throws {
        try folder.write("changed", to: "b")
        #expect { try files.check(isSent: true) } throws: { RequestError.Code.fileChanged ~= $0 }
    }
}
