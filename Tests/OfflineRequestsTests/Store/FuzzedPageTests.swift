import RequestOperationsTesting
import Testing

@testable import OfflineRequests

/// Pages of a database with changes that break parsers: 1,000,000 with `REQUEST_OPERATIONS_STRESS=full`, 2,000 in the suite.
@Suite(.timeLimit(.minutes(10))) struct FuzzedPageTests {
    @Test(.timeLimit(.minutes(30))) func `No page of a database harms the salvage of its records`() async throws {
        let fixture = try Fixture()
        let queue = try await fixture.open()
        queue.pause()
        for number in 0..<20 {
            let body = String(repeating: "\(number) ", count: number == 3 ? 3000 : 1)
            try await queue.add(post("\(number)", body: body), options: OfflineOptions(lane: "\(number)"))
        }
        try await queue.synchronize()
        let files = try fixture.files()
        let database = Array(try Data(contentsOf: files.database))
        await queue.close()
        let pages = stride(from: 0, to: database.count, by: PageImages.pageSize).map {
            Array(database[$0..<($0 + PageImages.pageSize)])
        }

        var mutator = Mutator(pages, seed: 1)
        let file = fixture.directory.appendingPathComponent("page")
        let log = try LogCopy(try fixture.files("none"))
        var rows = 0
        for _ in 0..<(Extent.isFull ? 1_000_000 : 2000) {
            var page = mutator.next()
            page += [UInt8](repeating: 0, count: PageImages.pageSize - page.count)
            try Data(page).write(to: file)
            try PageImages(database: file, log: log).forEachRow { row in
                rows += 1
                _ = (SalvagedRecord(row)?.isSound, SalvagedRecord.outcome(row))
            }
        }
        // Some changes leave some rows.
        #expect(rows > 100)
    }
}
