import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// A recovery whose process ends after any of its steps.
@Suite(.timeLimit(.minutes(10))) struct RecoveryTests {
    @Test(arguments: 0...Recovery.Step.allCases.count)
    func `A recovery that ends after any step loses no record`(steps: Int) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<10 {
            try await queue.add(post("\(number)"))
            // The others are in the log only.
            if number == 4 { try await queue.synchronize() }
        }
        let files = try fixture.files()
        let (database, log) = (try Data(contentsOf: files.database), try Data(contentsOf: files.log))
        let mark = try Data(contentsOf: files.mark)
        await queue.close()

        let other = try Fixture()
        let damaged = try other.files()
        var bytes = database
        for offset in 0..<100 { bytes[offset] = 0 }
        try bytes.write(to: damaged.database)
        try log.write(to: damaged.log)
        try mark.write(to: damaged.mark)
        let recovery = Recovery(files: damaged, mark: try CommitMark(damaged.mark.path), date: { Fixture.epoch })
        #expect(try recovery.build(from: LogCopy(damaged)).sound == 10)
        try recovery.install(Array(Recovery.Step.allCases.prefix(steps)))

        let later = try await other.open { $0.startsPaused = true }
        #expect(try await later.counts.pending == 10)
        #expect(!damaged.hasRecovered)
        // Without a step, the opening meets the damage, and SQLite itself changes the files.
        guard steps > 0 else { return await later.close() }
        let aside = try #require(try damaged.lastDamaged())
        #expect(try Data(contentsOf: aside) == bytes)
        // Its log is beside it.
        #expect(try Data(contentsOf: URL(fileURLWithPath: aside.path + "-wal")) == log)
        await later.close()
    }

    @Test func `A database of a recovery is for this user only`() throws {
        let fixture = try Fixture()
        let files = try fixture.files()
        let recovery = Recovery(files: files, mark: try CommitMark(files.mark.path), date: { Fixture.epoch })
        _ = try recovery.build(from: LogCopy(files))
        let attributes = try FileManager.default.attributesOfItem(atPath: files.recovered.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `A log that is too long for memory is copied on disk, and leaves no copy`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<10 { try await queue.add(post("\(number)")) }
        let files = try fixture.files()
        let log = try Data(contentsOf: files.log)
        let copy = try LogCopy(files, longestInMemory: 0)
        // SQLite changes the log that it opens. The copy stays as it was.
        try await queue.synchronize()
        try await queue.add(post("later"))
        #expect(try copy.bytes == log)
        let names = try FileManager.default.contentsOfDirectory(atPath: files.directory.path)
        #expect(!names.contains { $0.hasPrefix(".log") })
        await queue.close()
    }

    @Test func `A long log that cannot be copied fails only what needs the copy`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        try await queue.add(post("1"))
        let files = try fixture.files()
        let copy = try LogCopy(files, longestInMemory: 0, directory: fixture.directory.appendingPathComponent("none"))
        #expect(!copy.isWithoutDatabase)
        #expect(throws: FileError.self) { try copy.bytes }
        let recovery = Recovery(files: files, mark: try CommitMark(files.mark.path), date: { Fixture.epoch })
        #expect(throws: FileError.self) { _ = try recovery.build(from: copy) }
        await queue.close()
    }

    @Test func `A log that is empty or not there has no bytes and one that cannot be opened is an error`() throws {
        let fixture = try Fixture()
        let files = try fixture.files()
        #expect(try LogCopy(files).bytes.isEmpty)
        try Data().write(to: files.log)
        #expect(try LogCopy(files, longestInMemory: -1).bytes.isEmpty)
        try FileManager.default.removeItem(at: files.log)
        // A link to itself leads nowhere.
        try FileManager.default.createSymbolicLink(at: files.log, withDestinationURL: files.log)
        #expect(throws: FileError.self) { try LogCopy(files) }
    }
}
