import Testing

@testable import RequestOperations

@Suite(.timeLimit(.minutes(10))) struct FileSinkTests {
    private let path = TemporaryPath()

    @Test func `The file appears when it is whole`() throws {
        let sink = try FileSink(path.url)
        try sink.file.append(Data("x".utf8))
        #expect(!path.exists)
        try sink.finish()
        #expect(path.exists)
    }

    @Test func `A finished file has all that was written`() throws {
        let sink = try FileSink(path.url)
        for piece in ["one ", "two ", ""] { try sink.file.append(Data(piece.utf8)) }
        try sink.finish()
        #expect(try path.content == Data("one two ".utf8))
    }

    @Test func `A finished file is kept`() throws {
        do {
            let sink = try FileSink(path.url)
            try sink.finish()
            sink.discard()
        }
        #expect(path.exists)
    }

    @Test func `Of a file that is not finished nothing is left`() throws {
        let folder = try TemporaryFolder()
        do {
            let sink = try FileSink(folder.file("body"))
            try sink.file.append(Data("half".utf8))
            #expect(try folder.names.count == 1)
        }
        #expect(try folder.names == [])
    }

    @Test func `A file that is not finished leaves the one that was there`() throws {
        try Data("before".utf8).write(to: path.url)
        do {
            let sink = try FileSink(path.url)
            try sink.file.append(Data("half".utf8))
            sink.discard()
        }
        #expect(try path.content == Data("before".utf8))
    }

    @Test func `Two of one destination do not meet`() throws {
        let (first, second) = (try FileSink(path.url), try FileSink(path.url))
        try first.file.append(Data("first".utf8))
        try second.file.append(Data("second".utf8))
        try first.finish()
        second.discard()
        #expect(try path.content == Data("first".utf8))
    }

    @Test(arguments: [0o4755, 0o2755, 0o1755, 0o7700])
    func `A file that is replaced leaves none of its rights to run as its owner`(mode: Int) throws {
        try Data("before".utf8).write(to: path.url)
        #expect(chmod(path.url.path, mode_t(mode)) == 0)
        let sink = try FileSink(path.url)
        try sink.file.append(Data("after".utf8))
        try sink.finish()
        var status = stat()
        #expect(stat(path.url.path, &status) == 0 && Int(status.st_mode & 0o7777) == mode & 0o777)
    }

    @Test func `A whole file is finished though there is no descriptor left`() throws {
        let sink = try FileSink(path.url)
        try sink.file.append(Data("all".utf8))
        try sink.finish { _ in
            errno = EMFILE
            return -1
        }
        #expect(try path.content == Data("all".utf8))
    }

    @Test func `An existing file is replaced and its permissions are kept`() throws {
        try Data("before".utf8).write(to: path.url)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path.url.path)
        let sink = try FileSink(path.url)
        try sink.file.append(Data("after".utf8))
        try sink.finish()
        #expect(try path.content == Data("after".utf8))
        let attributes = try FileManager.default.attributesOfItem(atPath: path.url.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
    }

    @Test(arguments: [true, false])
    func `A link is followed and stays a link`(leadsSomewhere: Bool) throws {
        let folder = try TemporaryFolder()
        if leadsSomewhere { try Data("before".utf8).write(to: folder.file("target")) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link").path, withDestinationPath: "target")
        let sink = try FileSink(folder.file("link"))
        try sink.file.append(Data("x".utf8))
        try sink.finish()
        #expect(try Data(contentsOf: folder.file("target")) == Data("x".utf8))
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link").path) == "target")
    }

    @Test(arguments: ["file:///nowhere/at/all", "file:///", "http://example.invalid/"])
    func `What is no file fails as such`(url: String) throws {
        let url = try #require(URL(string: url))
        let error = #expect(throws: RequestError.self) { try FileSink(url) }
        #expect(error?.code == .fileFailed)
    }
}

/// An empty folder, removed with its last reference.
private final class TemporaryFolder {
    private let path = TemporaryPath()

    init() throws {
        try FileManager.default.createDirectory(at: path.url, withIntermediateDirectories: false)
    }

    var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path.url.path) } }

    func file(_ name: String) -> URL { path.url.appendingPathComponent(name) }
}
