import RequestOperations
import Testing

@testable import urlrequest

@Suite(.timeLimit(.minutes(10))) struct OutputDirectoryTests {
    private let place: TemporaryPath
    private var path: String { place.path }

    init() throws {
        place = try TemporaryPath()
    }

    @Test func `A missing directory is made, with those above it`() throws {
        _ = try OutputDirectory(path + "/a/b")
        #expect(FileManager.default.fileExists(atPath: path + "/a/b"))
    }

    @Test func `A file in the place of the directory is refused`() throws {
        _ = try OutputDirectory(path)
        try Data().write(to: URL(fileURLWithPath: path + "/file"))
        #expect(throws: UnusableInput.self) { try OutputDirectory(path + "/file") }
    }

    @Test func `A body stands under its name, whole, and nothing else is left`() async throws {
        let directory = try OutputDirectory(path)
        try await save("hello ", "world", as: "http://a.example/b.txt", in: directory)
        #expect(try contents() == ["a.example_b.txt": "hello world"])
    }

    @Test func `A body is not seen under its name before it is whole`() async throws {
        let file = SavedFile(in: try OutputDirectory(path))
        try await file.append(Data("half".utf8))
        #expect(try contents().keys.allSatisfy { $0.hasPrefix(".") })
    }

    @Test func `A body without bytes makes an empty file`() async throws {
        try await save(as: "http://a.example/", in: try OutputDirectory(path))
        #expect(try contents() == ["a.example": ""])
    }

    @Test func `Bodies of one name get numbers, past those that stand there already`() async throws {
        let directory = try OutputDirectory(path)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/a.example_b-2.txt"))
        for text in ["1", "2", "3"] { try await save(text, as: "http://a.example/b.txt", in: directory) }
        #expect(
            try contents() == [
                "a.example_b.txt": "1", "a.example_b-2.txt": "mine", "a.example_b-3.txt": "2", "a.example_b-4.txt": "3",
            ])
    }

    @Test func `A symbolic link that was planted under the name leads nowhere`() async throws {
        let directory = try OutputDirectory(path + "/out")
        let victim = path + "/victim"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        for (link, target) in [("a.example", victim), ("a.example-2", path + "/dangling"), ("a.example-3", path)] {
            try FileManager.default.createSymbolicLink(atPath: path + "/out/" + link, withDestinationPath: target)
        }
        try await save("evil", as: "http://a.example/", in: directory)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
        #expect(!FileManager.default.fileExists(atPath: path + "/dangling"))
        #expect(try String(contentsOfFile: path + "/out/a.example-4", encoding: .utf8) == "evil")
    }

    @Test func `A directory that was moved away and replaced by a link still receives the files`() async throws {
        let directory = try OutputDirectory(path + "/out")
        try FileManager.default.createDirectory(atPath: path + "/elsewhere", withIntermediateDirectories: true)
        try FileManager.default.moveItem(atPath: path + "/out", toPath: path + "/moved")
        try FileManager.default.createSymbolicLink(atPath: path + "/out", withDestinationPath: path + "/elsewhere")
        try await save("x", as: "http://a.example/", in: directory)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/elsewhere") == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/moved") == ["a.example"])
    }

    @Test func `What a run left that was killed is removed, and what another run writes is kept`() async throws {
        let directory = try OutputDirectory(path)
        try Data().write(to: URL(fileURLWithPath: path + "/.urlrequest-1-1-1.part"))
        let file = SavedFile(in: directory)
        try await file.append(Data("half".utf8))
        _ = try OutputDirectory(path)
        #expect(try contents().values.sorted() == ["half"])
    }

    @Test func `A body that is discarded leaves nothing`() async throws {
        let directory = try OutputDirectory(path)
        let file = SavedFile(in: directory)
        try await file.append(Data("half".utf8))
        file.discard()
        await directory.finish()
        #expect(try contents() == [:])
    }

    @Test func `A body that is discarded when it has its name leaves nothing`() async throws {
        let directory = try OutputDirectory(path)
        let file = SavedFile(in: directory)
        _ = try await file.save(as: name("http://a.example/"))
        file.discard()
        await directory.finish()
        #expect(try contents() == [:])
    }

    @Test(arguments: OutputDirectory.NamingWay.allCases)
    func `Whatever the file system knows, nothing is replaced`(_ way: OutputDirectory.NamingWay) async throws {
        let directory = try OutputDirectory(path, naming: [way])
        let file = SavedFile(in: directory)
        try await file.append(Data("body".utf8))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/a.example"))
        _ = try await file.save(as: name("http://a.example/"))
        #expect(try contents() == ["a.example": "mine", "a.example-2": "body"])
    }

    @Test(arguments: OutputDirectory.NamingWay.allCases)
    func `A body that is lost leaves nothing under its name`(_ way: OutputDirectory.NamingWay) async throws {
        let directory = try OutputDirectory(path, naming: [way])
        let file = SavedFile(in: directory)
        try await file.append(Data("half".utf8))
        directory.removeUnfinished()
        await #expect(throws: RequestError.self) { _ = try await file.save(as: name("")) }
        #expect(try contents() == [:])
    }

    @Test func `Many bodies of one name all get one`() async throws {
        let directory = try OutputDirectory(path)
        try await withThrowingTaskGroup { group in
            for number in 1...100 {
                group.addTask { try await save("\(number)", as: "http://a.example/", in: directory) }
            }
            try await group.waitForAll()
        }
        #expect(try Set(contents().values) == Set((1...100).map(String.init)))
    }

    @Test func `Nothing is written to a file that was discarded`() async throws {
        let directory = try OutputDirectory(path)
        let file = SavedFile(in: directory)
        file.discard()
        await #expect(throws: CancellationError.self) { try await file.append(Data("late".utf8)) }
        #expect(try contents() == [:])
    }

    @Test func `The files of unfinished bodies can be removed at once`() async throws {
        let directory = try OutputDirectory(path)
        let file = SavedFile(in: directory)
        try await file.append(Data("half".utf8))
        directory.removeUnfinished()
        #expect(try contents() == [:])
    }

    @Test func `Names follow the order in which they were asked for, not that of the saving`() async throws {
        let directory = try OutputDirectory(path)
        let base = FileName(of: URL(string: "http://a.example/b.txt"))
        let first = await directory.name(of: base)
        let second = await directory.name(of: base)
        for (text, destination) in [("2", second), ("1", first)] {
            guard case .free(let name) = destination else { continue }
            let file = SavedFile(in: directory)
            try await file.append(Data(text.utf8))
            _ = try await file.save(as: name)
        }
        #expect(try contents() == ["a.example_b.txt": "1", "a.example_b-2.txt": "2"])
    }

    @Test func `A name that was taken meanwhile is not replaced, and the next one is told`() async throws {
        let directory = try OutputDirectory(path)
        let file = SavedFile(in: directory)
        guard case .free(let name) = await directory.name(of: FileName(of: URL(string: "http://a.example/"))) else {
            return #expect(Bool(false), "not free")
        }
        try Data("mine".utf8).write(to: URL(fileURLWithPath: path + "/a.example"))
        #expect(try await file.save(as: name) == "a.example-2")
        #expect(try contents() == ["a.example": "mine", "a.example-2": ""])
    }

    @Test func `A file that stands there is replaced if that is wanted, and a link is not followed`() async throws {
        let directory = try OutputDirectory(path, ifExists: .overwrite)
        let victim = try TemporaryPath(content: "precious")
        try Data("old".utf8).write(to: URL(fileURLWithPath: path + "/a.example"))
        try FileManager.default.createSymbolicLink(
            atPath: path + "/a.example-2", withDestinationPath: victim.path)
        for text in ["1", "2"] { try await save(text, as: "http://a.example/", in: directory) }
        #expect(try contents() == ["a.example": "1", "a.example-2": "2"])
        #expect(try String(contentsOfFile: victim.path, encoding: .utf8) == "precious")
    }

    @Test func `A file that stands there is kept if that is wanted, and no name given`() async throws {
        let directory = try OutputDirectory(path, ifExists: .skip)
        try Data("old".utf8).write(to: URL(fileURLWithPath: path + "/a.example"))
        let base = FileName(of: URL(string: "http://a.example/"))
        #expect(await directory.name(of: base) == .kept("a.example"))
        #expect(await directory.name(of: base) == .free(OutputName(base: base, number: 2)))
    }

    @Test(arguments: [ExistingFile.overwrite, .skip])
    func `A second run into the same directory uses the same names`(_ ifExists: ExistingFile) async throws {
        for _ in 1...2 {
            let directory = try OutputDirectory(path, ifExists: ifExists)
            for _ in 1...3 {
                guard case .free(let name) = await directory.name(of: FileName(of: URL(string: "http://a.example/")))
                else { continue }
                _ = try await SavedFile(in: directory).save(as: name)
            }
            #expect(try Set(contents().keys) == ["a.example", "a.example-2", "a.example-3"])
        }
    }

    private func save(_ pieces: String..., as url: String, in directory: OutputDirectory) async throws {
        guard case .free(let name) = await directory.name(of: FileName(of: URL(string: url))) else { return }
        let file = SavedFile(in: directory)
        for piece in pieces { try await file.append(Data(piece.utf8)) }
        _ = try await file.save(as: name)
    }

    private func name(_ url: String) -> OutputName {
        OutputName(base: FileName(of: URL(string: url)), number: 1)
    }

    private func contents() throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return Dictionary(
            uniqueKeysWithValues: try names.map { ($0, try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8)) })
    }
}
