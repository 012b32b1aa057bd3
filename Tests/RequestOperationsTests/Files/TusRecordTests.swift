import Foundation
import Testing

@testable import RequestOperations

/// The side file of an upload by tus.
@Suite(.timeLimit(.minutes(10))) struct TusRecordTests {
    private let folder: DownloadFolder
    private let location = TusLocation(url: URL(string: "http://a.example/1")!, expires: nil)

    init() throws {
        folder = try DownloadFolder()
    }

    private func record(expires: Date? = nil) throws -> TusRecord {
        try folder.write("0123")
        return TusRecord(
            server: "s", source: .file(try FileStamp(of: folder.file())),
            location: TusLocation(url: location.url, expires: expires))
    }

    @Test func `A side file is read as it was written, and only the owner may read it`() throws {
        let record = try record(expires: Date(timeIntervalSince1970: 4_000_000_000.125))
        try record.write(to: folder.file("side").path)
        #expect(TusRecord(at: folder.file("side").path) == record)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.file("side").path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try folder.hiddenNames.isEmpty)
    }

    @Test(arguments: [253_402_300_799, -2_000_000_000] as [TimeInterval])
    func `The stamp of a file takes every time of its change`(time: TimeInterval) throws {
        try folder.write("0123")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: folder.file().path)
        #expect(try FileStamp(of: folder.file()).size == 4)
    }

    @Test func `A side file that cannot be read is none`() throws {
        #expect(TusRecord(at: folder.file("none").path) == nil)
        try folder.write("{", to: "side")
        #expect(TusRecord(at: folder.file("side").path) == nil)
    }

    @Test func `A side file fits only the same file and server, before it expires`() throws {
        let record = try record(expires: Date(timeIntervalSince1970: 100))
        let before = Date(timeIntervalSince1970: 99)
        #expect(record.fits("s", record.source, now: before))
        #expect(!record.fits("t", record.source, now: before))
        #expect(!record.fits("s", record.source, now: Date(timeIntervalSince1970: 100)))
        try folder.write("01234")
        #expect(!record.fits("s", .file(try FileStamp(of: folder.file())), now: before))
    }

    @Test func `A file of the same size with another date is another one`() throws {
        let first = try record()
        let date = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: folder.file().path)
        #expect(!first.fits("s", .file(try FileStamp(of: folder.file()))))
    }

    @Test func `Each file and each server have a hidden side file of their own`() {
        let places = [folder.file("a"), folder.file("b")].flatMap { file in
            ["s", "t"].map { TusRecord.place(beside: file, for: $0).lastPathComponent }
        }
        #expect(Set(places).count == 4 && places.allSatisfy { $0.hasPrefix(".RequestOperations-") })
    }

    @Test func `A side file that cannot be written is an error, and leaves nothing`() throws {
        let record = try record()
        #expect {
            try record.write(to: folder.file("missing/side").path)
        } throws: { RequestError.Code.fileFailed ~= $0 }
        #expect(try folder.names == ["file"])
    }
}
