import RequestOperationsTesting
import Testing

@testable import OfflineRequests

@Suite(.timeLimit(.minutes(10))) struct OpeningTests {
    @Test(arguments: ["test.bodies", "test.gate", "test.sqlite", "folder", "folder/below"])
    func `An error at the opening names the path and the reason`(place: String) async throws {
        let fixture = try Fixture()
        // A file is where a folder should be, or a folder where a file should be.
        let isFolder = ["test.gate", "test.sqlite"].contains(place)
        let wrong = fixture.directory.appendingPathComponent(place.split(separator: "/").first.map(String.init) ?? "")
        if isFolder {
            try FileManager.default.createDirectory(at: wrong, withIntermediateDirectories: false)
        } else {
            try Data().write(to: wrong)
        }
        let directory = place.hasPrefix("folder") ? fixture.directory.appendingPathComponent(place) : fixture.directory
        await #expect {
            _ = try await OfflineRequestQueue.open(name: "test", directory: directory)
        } throws: { error in
            let text = "\(error)"
            return error is OfflineQueueError && text.contains(fixture.directory.appendingPathComponent(place).path)
                && text.contains(isFolder ? "Is a directory" : "Not a directory")
        }
    }

    @Test func `The same name is the same queue`() async throws {
        let fixture = try Fixture()
        async let first = fixture.open()
        async let second = fixture.open()
        let (one, two) = try await (first, second)
        #expect(one === two)
        let other = try await fixture.open("other")
        #expect(one !== other)
        await one.close()
        await other.close()
    }

    @Test func `A closed queue is opened anew`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        await first.close()
        let second = try await fixture.open()
        #expect(first !== second)
        await second.close()
    }

    @Test func `A name may have any characters`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open("../a/b ü")
        queue.pause()
        _ = try await queue.add(post("a"))
        await queue.close()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path).contains {
                $0.hasSuffix(".sqlite")
            })
    }

    @Test func `An empty name is refused`() async throws {
        let fixture = try Fixture()
        await #expect { try await fixture.open("") } throws: { OfflineQueueError.Code.invalidName ~= $0 }
    }

    @Test func `Records are there after a reopening`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        first.pause()
        let id = try await first.add(post("a"), options: OfflineOptions(lane: "l"))
        await first.close()
        let second = try await fixture.open()
        #expect(try await second.outcome(of: id) == .delivered(status: 204))
        await second.close()
    }

    @Test func `An outcome is there after a reopening`() async throws {
        let fixture = try Fixture()
        let first = try await fixture.open()
        let id = try await first.add(post("a"))
        _ = try await first.outcome(of: id)
        await first.close()
        let second = try await fixture.open()
        #expect(try await second.outcome(of: id) == .delivered(status: 204))
        await second.close()
    }

    @Test func `An unknown record has no outcome`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        await #expect { try await queue.outcome(of: OfflineRecord.ID(rawValue: 99)) } throws: {
            OfflineQueueError.Code.unknownRecord ~= $0
        }
        await queue.close()
    }

    @Test(arguments: [99, Int(Int32.max), -1, Int(Int32.min)])
    func `A schema of an unknown version is refused, and the error names it`(version: Int) async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        await queue.close()
        let connection = try SQLiteConnection(fixture.files().database.path)
        try connection.execute("PRAGMA user_version = \(version)")
        connection.close()
        await #expect { try await fixture.open() } throws: { error in
            OfflineQueueError.Code.newerSchema ~= error && "\(error)".contains("version \(version) of the schema")
        }
    }

    @Test func `Migrations run in order and once`() throws {
        let fixture = try Fixture()
        let connection = try SQLiteConnection(fixture.directory.appendingPathComponent("m").path)
        let migrations: [Schema.Migration] = [
            { try $0.execute("CREATE TABLE t (a)") },
            { try $0.execute("ALTER TABLE t ADD b; INSERT INTO t VALUES (1, 2)") },
        ]
        try Schema.migrate(connection, through: Array(migrations.prefix(1)))
        try Schema.migrate(connection, through: migrations)
        try Schema.migrate(connection, through: migrations)
        #expect(try connection.rows("SELECT a + b FROM t") { $0.integer(0) } == [3])
    }

    @Test func `The default directory is the data directory`() {
        #if os(Linux)
            #expect(
                DefaultDirectory.url(environment: ["XDG_DATA_HOME": "/x", "HOME": "/h"]).path == "/x/OfflineRequests")
            #expect(DefaultDirectory.url(environment: ["HOME": "/h"]).path == "/h/.local/share/OfflineRequests")
        #endif
    }
}
