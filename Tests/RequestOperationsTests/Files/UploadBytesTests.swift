import Foundation
import Testing

@testable import RequestOperations

/// Parts of the bytes of an upload.
@Suite(.timeLimit(.minutes(10))) struct UploadBytesTests {
    private let folder: DownloadFolder
    private static let text = "0123456789"

    init() throws {
        folder = try DownloadFolder()
        try folder.write(Self.text)
    }

    private func sources() throws -> [UploadBytes] {
        let stream = BodyStream(length: 10) {
            let rest = Locked(["012", "", "3456", "789"])
            return BodyStream.Reader { rest.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
        }
        return try [
            UploadBytes(.body(.data(Data("x\(Self.text)".utf8).dropFirst()))),
            UploadBytes(.body(.file(folder.file()))), UploadBytes(.body(.stream(stream))),
        ]
    }

    private func text(of body: RequestBody) async throws -> String {
        switch body {
        case .none: return ""
        case .data(let data): return String(decoding: data, as: UTF8.self)
        case .file(let file): return try String(contentsOf: file, encoding: .utf8)
        case .stream(let stream):
            let reader = try await stream.open()
            var all = Data()
            while let piece = try await reader.next() { all += piece }
            #expect(stream.length == Int64(all.count) && stream.isReopenable)
            return String(decoding: all, as: UTF8.self)
        }
    }

    @Test func `Any part of any source can be sent, and again`() async throws {
        for bytes in try sources() {
            #expect(bytes.count == 10)
            for part: Range<Int64> in [0..<10, 4..<10, 2..<3, 9..<10, 4..<8] {
                let expected = String(Self.text.dropFirst(Int(part.lowerBound)).prefix(part.count))
                let body = bytes.body(part)
                #expect(try await text(of: body) == expected)
                #expect(try await text(of: body) == expected)
            }
        }
    }

    @Test func `A whole file goes to the transport as a file`() throws {
        let body = try UploadBytes(.body(.file(folder.file()))).body(0..<10)
        if case .file = body {} else { Issue.record("\(body)") }
    }

    @Test func `The digest is that of the part`() async throws {
        for bytes in try sources() {
            #expect(try await bytes.digest(of: 2..<8) == SHA2.digest(of: "234567"))
        }
    }

    @Test func `Bytes that are fewer than declared are an error`() async throws {
        let bytes = try UploadBytes(.body(.file(folder.file())))
        try folder.write("0123")
        await #expect { try await bytes.digest(of: 2..<8) } throws: { RequestError.Code.unencodableBody ~= $0 }
        let stream = BodyStream(length: 10) { BodyStream.Reader(Data("0123".utf8)) }
        let short = try UploadBytes(.body(.stream(stream)))
        await #expect { try await short.digest(of: 2..<8) } throws: { RequestError.Code.unencodableBody ~= $0 }
    }

    @Test func `A stream without a length or a second time, and a form, have no parts`() {
        let bodies: [UploadContent] = [
            .body(.stream(BodyStream { BodyStream.Reader(Data()) })),
            .body(.stream(BodyStream(length: 1, isReopenable: false) { BodyStream.Reader(Data()) })),
            .form(MultipartFormData()),
        ]
        for body in bodies {
            #expect { try UploadBytes(body) } throws: { RequestError.Code.unsupported ~= $0 }
        }
    }

    @Test func `The progress of an upload has a total before the response`() {
        let sending = TransferProgress(bytesSent: 3, bytesToSend: 5)
        #expect(
            sending.ofUpload(from: 5, of: 10)
                == TransferProgress(bytesSent: 8, bytesToSend: 10, bytesReceived: 0, bytesToReceive: 0))
        let answered = TransferProgress(bytesSent: 5, bytesToSend: 5, bytesReceived: 2, bytesToReceive: 4)
        #expect(answered.ofUpload(of: nil) == answered)
        let unknown = TransferProgress(bytesSent: 3)
        #expect(unknown.ofUpload(of: nil) == unknown)
    }
}

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
