import OfflineRequests
import RequestOperations

#if canImport(SQLite3)
    import SQLite3
#else
    import CRequestOperationsSQLite
#endif

/// Measures a queue beside SQLite itself, in one run. Build it with optimisation.
enum Measure {
    /// Adds of one caller, of many, and in batches, as ratios. Prints one line.
    static func adds(in directory: URL) async throws {
        let queue = try await OfflineRequestQueue.open(name: "measure", directory: directory)
        queue.pause()
        let raw = try RawTransactions(directory.appendingPathComponent("raw.sqlite").path)
        var (rawTimes, singleTimes, manyTimes): ([Double], [Double], [Double]) = ([], [], [])
        var (rawBatchTimes, batchTimes): ([Double], [Double]) = ([], [])
        let batch = (0..<1000).map { (request: sample($0), options: OfflineOptions()) }
        // The kinds take turns, so that a slow moment of the disk meets all.
        for _ in 0..<10 {
            rawTimes.append(await time { raw.insert(200) } / 200)
            singleTimes.append(
                try await time { for number in 0..<200 { try await queue.add(sample(number)) } } / 200)
            manyTimes.append(
                try await time {
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<64 {
                            group.addTask { for number in 0..<50 { try await queue.add(sample(number)) } }
                        }
                        try await group.waitForAll()
                    }
                } / 3200)
            rawBatchTimes.append(await time { raw.insertBatch(1000) })
            batchTimes.append(try await time { try await queue.add(contentsOf: batch) })
        }
        let (plain, single, many) = (median(rawTimes), median(singleTimes), median(manyTimes))
        let (rawBatch, ofBatch) = (median(rawBatchTimes), median(batchTimes))
        report("raw \(plain * 1e6) us, one caller \(plain / single) of raw, 64 callers \(single / many) of one caller")
        report("a batch of 1000: raw \(rawBatch * 1e3) us a record, queue \(rawBatch / ofBatch) of raw")
        await queue.close()
    }

    /// Adds records that wait in lanes of 100.
    static func populate(_ count: Int, in directory: URL) async throws {
        let queue = try await OfflineRequestQueue.open(name: "measure", directory: directory)
        queue.pause()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<512 {
                group.addTask {
                    for number in stride(from: caller, to: count, by: 512) {
                        try await queue.add(sample(number), options: OfflineOptions(lane: "\(number / 100)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        report("\(try await queue.counts.pending) pending")
        await queue.close()
    }

    /// The time from the opening to the first delivery, and the memory beyond that before the opening.
    static func opening(in directory: URL) async throws {
        let transport = FirstDelivery()
        var configuration = OfflineConfiguration()
        configuration.request.transport = transport
        configuration.request.networkPath = NetworkPath()
        // What any program of this kind has in memory.
        _ = try await OfflineRequestQueue.open(name: "empty", directory: directory, configuration: configuration)
        let before = residentBytes()
        let start = ContinuousClock.now
        let queue = try await OfflineRequestQueue.open(
            name: "measure", directory: directory, configuration: configuration)
        let opened = ContinuousClock.now
        let delivered = await transport.first()
        queue.pause()
        let after = residentBytes()
        report("open \(opened - start), first delivery \(delivered - start), memory \((after - before) >> 10) KiB more")
        await queue.close()
    }

    static func sample(_ number: Int) -> URLRequest {
        var request = URLRequest(url: URL(string: "https://a.example/items/\(number)")!)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(#"{"id": \#(number), "text": "a message of some length"}"#.utf8)
        return request
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    static func time(_ work: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await work()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private static func residentBytes() -> Int {
        let statistics = (try? String(contentsOfFile: "/proc/self/statm", encoding: .ascii)) ?? ""
        return (Int(statistics.split(separator: " ").dropFirst().first ?? "") ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}

/// SQLite's own one-row transactions, with a flush to the disk for each.
private final class RawTransactions {
    private var handle: OpaquePointer?
    private var insertion: OpaquePointer?

    init(_ path: String) throws {
        sqlite3_open(path, &handle)
        sqlite3_exec(handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", nil, nil, nil)
        sqlite3_exec(handle, "CREATE TABLE t (id INTEGER PRIMARY KEY, content BLOB)", nil, nil, nil)
        sqlite3_prepare_v2(handle, "INSERT INTO t (content) VALUES (zeroblob(300))", -1, &insertion, nil)
    }

    func insert(_ count: Int) {
        for _ in 0..<count {
            sqlite3_step(insertion)
            sqlite3_reset(insertion)
        }
    }

    func insertBatch(_ count: Int) {
        sqlite3_exec(handle, "BEGIN", nil, nil, nil)
        insert(count)
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
    }
}

/// A transport that answers 204 and notes when it was first asked.
private final class FirstDelivery: Transport {
    private let times: AsyncStream<ContinuousClock.Instant>
    private let time: AsyncStream<ContinuousClock.Instant>.Continuation

    init() { (times, time) = AsyncStream.makeStream() }

    func first() async -> ContinuousClock.Instant {
        for await time in times { return time }
        return .now
    }

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        time.yield(.now)
        let head = ResponseHead(status: 204, url: task.request.url ?? URL(fileURLWithPath: "/"))
        try onHead(head)
        return TransportResponse(head: head)
    }
}
