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

/// The requests of an upload by tus.
@Suite(.timeLimit(.minutes(10))) struct TusRequestsTests {
    private let upload = URL(string: "https://a.example/files/1")!

    private func requests(_ redirects: RedirectPolicy = RedirectPolicy()) -> TusRequests {
        var request = URLRequest(url: URL(string: "https://a.example/files/")!)
        request.httpMethod = "PUT"
        request.httpBody = Data("x".utf8)
        request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        request.setValue("a", forHTTPHeaderField: "X-Trace")
        var configuration = RequestConfiguration()
        configuration.redirects = redirects
        return TusRequests(from: request, configuration)
    }

    @Test func `The creation says what is to come`() throws {
        let request = requests().creation(size: 7, metadata: "a YQ==", hasBytes: false)
        #expect(request.httpMethod == "POST" && request.url?.path == "/files" && request.httpBody == nil)
        #expect(request.value(forHTTPHeaderField: "Upload-Length") == "7")
        #expect(request.value(forHTTPHeaderField: "Upload-Metadata") == "a YQ==")
        #expect(request.value(forHTTPHeaderField: "Tus-Resumable") == "1.0.0")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
        let withBytes = requests().creation(size: 7, metadata: nil, hasBytes: true)
        #expect(withBytes.value(forHTTPHeaderField: "Content-Type") == "application/offset+octet-stream")
    }

    @Test func `A part has its offset and its digest`() throws {
        let request = try requests().part(of: upload, from: 5, digest: Data([1, 2]))
        #expect(request.httpMethod == "PATCH" && request.url == upload)
        #expect(request.value(forHTTPHeaderField: "Upload-Offset") == "5")
        #expect(request.value(forHTTPHeaderField: "Upload-Checksum") == "sha256 AQI=")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/offset+octet-stream")
    }

    @Test func `All requests have the caller's fields`() throws {
        let all = [
            requests().discovery, try requests().question(about: upload), try requests().termination(of: upload),
        ]
        #expect(all.map(\.httpMethod) == ["OPTIONS", "HEAD", "DELETE"])
        for request in all {
            #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer secret")
            #expect(request.value(forHTTPHeaderField: "X-Trace") == "a")
        }
    }

    @Test func `Credentials do not go to another origin`() throws {
        let other = URL(string: "https://b.example/files/1")!
        let request = try requests().part(of: other, from: 0, digest: nil)
        #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(request.value(forHTTPHeaderField: "X-Trace") == "a")
    }

    @Test func `The user of the caller's URL goes with all requests, and one that the server chose with none`() throws {
        let request = URLRequest(url: URL(string: "https://ada:pw@a.example/files/?q=1#part")!)
        let requests = TusRequests(from: request, RequestConfiguration())
        let own = try requests.question(about: URL(string: "https://eve:x@a.example/files/1?k=2")!)
        #expect(own.url?.absoluteString == "https://ada:pw@a.example/files/1?k=2#part")
        let other = try requests.question(about: URL(string: "https://eve:x@b.example/1")!)
        #expect(other.url?.user == nil && other.url?.password == nil)
    }

    @Test func `An upload does not go from https to http`() throws {
        let insecure = URL(string: "http://a.example/files/1")!
        #expect {
            try requests().question(about: insecure)
        } throws: { RequestError.Code.insecureRedirect ~= $0 }
        #expect(throws: Never.self) { try requests(RedirectPolicy(allowsInsecure: true)).question(about: insecure) }
    }

    @Test func `Metadata are pairs of a key and Base64`() throws {
        #expect(try TusRequests.metadata(["name": "Å.txt", "a": "", "b": "c"]) == "a,b Yw==,name w4UudHh0")
        #expect(try TusRequests.metadata([:]) == nil)
        for key in ["", "a b", "a,b", "ä", "a\r\n"] {
            #expect { try TusRequests.metadata([key: "x"]) } throws: { RequestError.Code.invalidField ~= $0 }
        }
    }
}
