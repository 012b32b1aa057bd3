import RequestOperationsTesting

@testable import OfflineRequests

/// A directory, a manual clock, a network and a script of answers for the queues of one test.
final class Fixture: Sendable {
    let directory: URL
    let clock = ManualClock()
    let path: NetworkPath
    let transport: ScriptedTransport
    /// The time of the calendar when the clock is at zero.
    static let epoch = Date(timeIntervalSince1970: 1_800_000_000)

    init(_ answers: [ScriptedTransport.Answer] = [.status(204)], _ reachability: Reachability = .reachable(.wifi))
        throws
    {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "OfflineRequests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = NetworkPath(reachability)
        transport = ScriptedTransport(answers)
    }

    deinit {
        // What cannot be removed is left to the system, which empties the folder of temporary files.
        try? FileManager.default.removeItem(at: directory)
    }

    /// A configuration without jitter on the manual clock.
    var configuration: OfflineConfiguration {
        var configuration = OfflineConfiguration()
        configuration.request.transport = transport
        configuration.request.clock = clock
        configuration.request.networkPath = path
        configuration.backoff = .exponential(initial: .seconds(10), factor: 2, maximum: .seconds(3600), jitter: .none)
        configuration.date = { [clock] in Self.epoch + clock.now.offset / .seconds(1) }
        return configuration
    }

    func open(
        _ name: String = "test", _ edit: (inout OfflineConfiguration) -> Void = { _ in }
    ) async throws -> OfflineRequestQueue {
        var configuration = configuration
        edit(&configuration)
        return try await OfflineRequestQueue.open(name: name, directory: directory, configuration: configuration)
    }

    /// A second queue over the same files, as another process would have it.
    ///
    /// - Parameter flush: Brings the commits in the file of a descriptor to the disk.
    func openStranger(
        _ name: String = "test", _ edit: (inout OfflineConfiguration) -> Void = { _ in },
        flush: @escaping @Sendable (Int32) -> Bool = DiskFlush.flush
    ) async throws -> OfflineRequestQueue {
        var configuration = configuration
        edit(&configuration)
        configuration = configuration.bounded
        let events = EventHub()
        let store = try await SQLiteStore.open(
            name: name, directory: directory, date: configuration.date, clock: clock,
            onRecovery: { events.send(.recovered($0)) }, flush: flush)
        return OfflineRequestQueue(
            name: name, directory: directory, place: nil, store: store, events: events, configuration: configuration)
    }

    /// The files of a queue.
    func files(_ name: String = "test") throws -> QueueFiles { try QueueFiles(name: name, directory: directory) }

    /// The path of the database of a queue.
    func database(_ name: String = "test") throws -> String { try files(name).database.path }

    /// The changes that are not in the database yet.
    func log() throws -> Data { try Data(contentsOf: files().log) }

    /// The last parts of the paths of the requests that were sent.
    var sent: [String] { transport.requests.compactMap { $0.url?.lastPathComponent } }
}

/// A POST to a path of a host that does not exist.
func post(_ path: String, body: String? = nil, host: String = "a.example") -> URLRequest {
    var request = URLRequest(url: URL(string: "https://\(host)/\(path)")!)
    request.httpMethod = "POST"
    request.httpBody = body.map { Data($0.utf8) }
    return request
}

extension OfflineRequestQueue {
    /// The next event that a closure accepts.
    func event<Value: Sendable>(_ match: @escaping @Sendable (OfflineEvent) -> Value?) async -> Value? {
        for await event in events { if let value = match(event) { return value } }
        return nil
    }

    /// Whether it neither searches nor delivers.
    var isQuiet: Bool { dispatcher.state.withLock { $0.isQuiet } }

    /// Whether it has begun to close.
    var isEnding: Bool { dispatcher.state.withLock { $0.isEnding } }

    /// How many requests it has in its hands.
    var deliveryCount: Int { dispatcher.state.withLock { $0.deliveries.count } }

    /// How many requests it sends to one host at a time.
    var widthOfHost: Int { dispatcher.perOrigin }

    /// Has it look for what is due.
    func search() { dispatcher.search() }

    /// Gives up its lock, as the end of its process would.
    func unlock() { (store as? SQLiteStore)?.ownerLock.unlock() }
}

extension Fixture {
    /// Moves the clock, and goes on to move it by a fifth of a second until something has happened.
    func advance(by duration: Duration, until isDone: @Sendable () -> Bool) async {
        clock.advance(by: duration)
        while !isDone() {
            await Task.yield()
            if !isDone() { clock.advance(by: .milliseconds(200)) }
        }
    }
}

extension Fixture {
    /// Whether nobody writes to a database.
    static func isFree(_ database: String) -> Bool {
        guard let connection = try? SQLiteConnection(database, patience: .zero) else { return false }
        defer { connection.close() }
        do {
            // The first try gives a thread that still runs the time to stop.
            for _ in 0..<2 { try connection.execute("BEGIN IMMEDIATE; ROLLBACK") }
            return true
        } catch {
            return false
        }
    }
}

extension NetworkPath {
    /// Returns when a listener that began before has been told of the present state.
    func settle() async {
        let reachability = reachability
        for await state in changes where state == reachability { break }
        for _ in 0..<100 { await Task.yield() }
    }
}

/// How SQLite works on the database.
extension Fixture {
    /// The names of the tables, indices and triggers.
    func schema() throws -> [String] {
        let connection = try SQLiteConnection(database(), isReadOnly: true)
        return try connection.rows("SELECT name FROM sqlite_schema") { $0.text(0) ?? "" }
    }

    /// How the records of queries are found, one text each.
    func plans(of queries: [RecordQuery]) throws -> [String] {
        try queries.map { try plan(of: SQLiteStore.walk($0, at: Self.epoch).sql) }
    }

    /// How lanes and hosts are found and counted.
    func plansOfGroups() throws -> [String] {
        try SQLiteStore.Grouping.allCases.flatMap { grouping in
            let statements = SQLiteStore.groupStatements(grouping)
            return try [statements.next, statements.count].map(plan)
        }
    }

    private func plan(of statement: String) throws -> String {
        let connection = try SQLiteConnection(database(), isReadOnly: true)
        return try connection.rows("EXPLAIN QUERY PLAN \(statement)") { $0.text(3) ?? "" }.joined(separator: "\n")
    }
}
