import Foundation
import OfflineRequests

extension OfflineStoreConformance {
    /// A store with a record in each state: pending, waiting, in flight and dead.
    private static func mixed(_ store: any OfflineStore) async throws -> (StoreSender, [OfflineRecord.ID]) {
        var sender = StoreSender(store)
        let body = StoredBody.data(Data("body".utf8))
        let ids = try await store.addNew(
            .request(lane: "dead", tag: "t", host: "b.example", path: "gone", body: body),
            .request(lane: "waiting", path: "later", body: body), .request(lane: "flight", tag: "t", body: body),
            .request(lane: "flight", key: "a key", path: "Needle", body: body))
        _ = try await sender.claim()
        try await sender.settle(ids[0], as: .dead(DeadLetterReason(.rejected, detail: "no")))
        try await sender.settle(ids[1], as: .waits(.failure()))
        return (sender, [ids[3], ids[1], ids[2], ids[0]])
    }

    static let looking: [OfflineStoreConformance] = [
        OfflineStoreConformance("The counts are right") { bench in
            let store = try await bench.store()
            try expect("The counts of nothing", try await store.counts(), are: OfflineCounts())
            _ = try await mixed(store)
            var counts = OfflineCounts()
            (counts.pending, counts.waiting, counts.inFlight, counts.dead, counts.bytes) = (1, 1, 1, 1, 16)
            try expect("The counts", try await store.counts(), are: counts)
        },
        OfflineStoreConformance("A page has the records of a filter, in the order of their ids") { bench in
            let store = try await bench.store()
            let (_, ids) = try await mixed(store)
            func find(_ filter: RecordFilter, after id: OfflineRecord.ID? = nil, limit: Int = 10) async throws
                -> [OfflineRecord.ID]
            {
                try await store.records(filter, after: id, limit: limit).map(\.id)
            }
            for kind in RecordFilter.Kind.allCases {
                try expect("The \(kind) records", try await find(RecordFilter([kind])), are: [ids[kind.rawValue]])
            }
            try expect("The first records", try await find(.all, limit: 2), are: [ids[3], ids[1]])
            try expect("The records after those", try await find(.all, after: ids[1]), are: [ids[2], ids[0]])
            try expect("The records of a lane", try await find(RecordFilter(lane: "flight")), are: [ids[2], ids[0]])
            try expect("The records with a tag", try await find(RecordFilter(tag: "t")), are: [ids[3], ids[2]])
            try expect("The records of no kind", try await find(RecordFilter([])), are: [])
            try expect("The records of no lane", try await find(RecordFilter(lane: "")), are: [])
        },
        OfflineStoreConformance("A page for people has the newest records first") { bench in
            let store = try await bench.store()
            let (_, ids) = try await mixed(store)
            let order = [ids[0], ids[2], ids[1], ids[3]]
            func find(_ query: RecordQuery) async throws -> [OfflineRecord.ID] {
                try await store.page(query).records.map(\.id)
            }
            try expect("The records", try await find(RecordQuery()), are: order)
            try expect("The records with a text", try await find(RecordQuery(text: "needle")), are: [ids[0]])
            try expect("The records with a key", try await find(RecordQuery(text: "A KEY")), are: [ids[0]])
            try expect("The record with an id", try await find(RecordQuery(text: "#\(ids[1])")), is: [ids[1]])
            try expect("The records of a host", try await find(RecordQuery(host: "https://b.example")), are: [ids[3]])
            try expect("The dead letters", try await find(RecordQuery(RecordFilter([.dead]))), are: [ids[3]])
            var (query, found) = (RecordQuery(), [OfflineRecord.ID]())
            query.limit = 3
            for _ in 0..<3 {
                let page = try await store.page(query)
                found += page.records.map(\.id)
                query.before = page.next
                if page.next == nil { break }
            }
            try expect("The records of all pages", found, are: order)
        },
        OfflineStoreConformance("The overview has the lanes and hosts") { bench in
            let store = try await bench.store()
            var (sender, ids) = try await mixed(store)
            try await sender.deliver(ids[2])
            let overview = try await store.overview()
            let lanes = overview.lanes.map { "\($0.name) \($0.count)" }
            let hosts = overview.hosts.map { "\($0.name) \($0.count)" }
            try expect("The lanes", lanes, are: ["dead 1", "flight 1", "waiting 1"])
            try expect("The hosts", hosts, are: ["https://a.example 2", "https://b.example 1"])
            try expect("The counts", overview.counts, are: try await store.counts())
            try expect("The deliveries", overview.total(\.delivered), are: 1)
        },
        OfflineStoreConformance("A queue is drained when only dead letters are left") { bench in
            let store = try await bench.store()
            try expect(try await store.isDrained(), "A new queue is not drained.")
            let (_, ids) = try await mixed(store)
            for id in [ids[0], ids[1], ids[2]] {
                try expect(try await !store.isDrained(), "The queue is drained, although the record \(id) is left.")
                _ = try await store.remove(id)
            }
            try expect(try await store.isDrained(), "The queue is not drained.")
            _ = try await store.revive(ids[3])
            try expect(try await !store.isDrained(), "The queue is drained, although a dead letter was revived.")
        },
        OfflineStoreConformance("Records without an outcome are undecided") { bench in
            let store = try await bench.store()
            let (_, ids) = try await mixed(store)
            let unknown = OfflineRecord.ID(rawValue: .max)
            try expect(
                "The undecided records", try await store.undecided(of: ids + [unknown]), are: Set(ids[..<3]))
        },
        OfflineStoreConformance("What has no outcome has none") { bench in
            let store = try await bench.store()
            let id = try await store.addNew(.request())[0]
            try expect("The outcome of a record", try await store.outcome(of: id), is: nil)
            let unknown = OfflineRecord.ID(rawValue: id.rawValue + 1)
            try expect("The outcome of nothing", try await store.outcome(of: unknown), is: nil)
            try expect("The record that does not exist", try await store.record(unknown)?.id, is: nil)
        },
        OfflineStoreConformance("Without a retention, outcomes are forgotten") { bench in
            let store = try await bench.store { $0.outcomeRetention = .zero }
            let ids = try await store.addNew(.request(), .request())
            _ = try await store.remove(ids[0])
            try await bench.pass(.milliseconds(50))
            _ = try await store.remove(ids[1])
            try expect("The outcome", try await store.outcome(of: ids[0]), is: nil)
        },
        OfflineStoreConformance("A store notices what another one adds") { bench in
            let (store, other) = (try await bench.store(), try await bench.store())
            // One that has nothing to do listens.
            var sender = StoreSender(store)
            _ = try await sender.claim()
            let isNotified = Locked(false)
            let watch = Task { for await _ in store.changes { isNotified.withLock { $0 = true } } }
            defer { watch.cancel() }
            let version = try await store.version()
            let id = try await other.addNew(.request())[0]
            var isNoticed = false
            for _ in 0..<50 where !isNoticed {
                let isNewer = try await store.version() != version
                isNoticed = isNewer || isNotified.withLock { $0 }
                if !isNoticed { try await bench.pass(.milliseconds(200)) }
            }
            try expect(isNoticed, "The store has not noticed the record.")
            try expect("The claimed records", try await sender.claimIDs(), are: [id])
        },
        OfflineStoreConformance("A closed store refuses everything") { bench in
            let store = try await bench.store()
            await store.close()
            try await expect(.closed) { try await store.addNew(.request()) }
            try await expect(.closed) { try await store.counts() }
        },
    ]

    static let removing: [OfflineStoreConformance] = [
        OfflineStoreConformance("A removed record is gone, and its lane goes on") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew((0..<4).map { _ in .request() })
            _ = try await sender.claim()
            for id in [ids[0], ids[1]] {
                try expect(try await store.remove(id), "The record \(id) could not be removed.")
                try expect(try await !store.remove(id), "The record \(id) was removed twice.")
                try expect("The outcome", try await store.outcome(of: id), is: .removed)
            }
            try expect("The order of the rest", try await sender.deliverAll(), is: Array(ids[2...]))
        },
        OfflineStoreConformance("Records of a filter are removed, up to an id and a number") { bench in
            let store = try await bench.store()
            let ids = try await store.addNew((0..<6).map { .request(lane: "\($0 % 2)", tag: $0 < 4 ? "t" : nil) })
            let lane = RecordFilter(lane: "0")
            let some = try await store.remove(lane, upTo: ids[5], limit: 2)
            try expect("The number of removed records", some.count, is: 2)
            try expect(Set(some).isSubset(of: [ids[0], ids[2], ids[4]]), "Others were removed: \(some).")
            try expect("The outcome", try await store.outcome(of: some[0]), is: .removed)
            let tag = RecordFilter(tag: "t")
            let left = Set(ids[..<2]).subtracting(some)
            try expect("The removed records", Set(try await store.remove(tag, upTo: ids[1], limit: 10)), are: left)
            try expect(
                "The records of no kind", try await store.remove(RecordFilter([]), upTo: ids[5], limit: 10), are: [])
            _ = try await store.remove(.all, upTo: ids[5], limit: 10)
            try expect("The last id", try await store.lastID(), is: nil)
        },
        OfflineStoreConformance("Records of a state are removed, also those in flight and the dead") { bench in
            for kind in RecordFilter.Kind.allCases {
                let store = try await bench.store()
                var (sender, ids) = try await mixed(store)
                let removed = try await store.remove(RecordFilter([kind]), upTo: ids[0], limit: 10)
                try expect("The removed \(kind) records", removed, are: [ids[kind.rawValue]])
                if kind != .inFlight { try await sender.deliver(ids[2]) }
                while try await !store.remove(.all, upTo: ids[0], limit: 10).isEmpty {}
            }
        },
        OfflineStoreConformance("A dead letter is revived at its old place") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request(), .request())
            for id in ids[..<2] {
                try expect("The claimed records", try await sender.claimIDs(), are: [id])
                try await sender.settle(id, as: .dead(DeadLetterReason(.rejected, detail: "no", status: 404)))
            }
            try expect(try await !store.revive(ids[2]), "A record that is no dead letter was revived.")
            try expect("The record in flight", try await sender.claimIDs(), is: [ids[2]])
            for id in [ids[1], ids[0]] { try expect(try await store.revive(id), "The record \(id) was not revived.") }
            try expect(try await !store.revive(ids[0]), "A record was revived twice.")
            try await store.expectState(of: ids[0], is: .pending)
            try expect("The attempts", try await store.existing(ids[0]).attempts, are: 0)
            // They come before all that is not in flight.
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            let last = try await store.addNew(.request())[0]
            try await sender.deliver(ids[2])
            try expect("The order of the lane", try await sender.deliverAll(), is: [ids[0], ids[1], last])
        },
        OfflineStoreConformance("A revived record comes before one that waits") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim()
            try await sender.settle(ids[0], as: .dead(DeadLetterReason(.rejected, detail: "no")))
            try expect("The next record", try await sender.claimIDs(), is: [ids[1]])
            try await sender.settle(ids[1], as: .waits(.failure()))
            _ = try await store.revive(ids[0])
            try expect("The claimed records", try await sender.deliverAll(), are: [ids[0]])
            try expect("The attempts of the other", try await store.existing(ids[1]).attempts, are: 1)
        },
        OfflineStoreConformance("A dead letter that has expired is revived without an expiry") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(expires: bench.date(in: -3600)))[0]
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            try expect(try await store.revive(id), "The record was not revived.")
            try expect("The expiry", try await store.existing(id).expires, is: nil)
            try expect("The claimed records", try await sender.claimIDs(), are: [id])
        },
    ]
}
