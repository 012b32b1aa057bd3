import Foundation
import OfflineRequests

extension OfflineStoreConformance {
    static let adding: [OfflineStoreConformance] = [
        OfflineStoreConformance("The records of a batch get rising ids in their order") { bench in
            let store = try await bench.store()
            let first = try await store.addNew((1...50).map { .request(lane: "\($0 % 7)", path: "\($0)") })
            let second = try await store.addNew(.request())
            try expect("The order of the ids", first + second, is: Array(Set(first + second)).sorted())
            let paths = try await store.records(.all, after: nil, limit: 50).map { $0.content.url?.lastPathComponent }
            try expect("The order of the records", paths, is: (1...50).map { "\($0)" })
            try expect("The last id", try await store.lastID(), is: second.first)
        },
        OfflineStoreConformance("No later record gets the id of one that is gone") { bench in
            let store = try await bench.store()
            let old = try await store.addNew(.request(), .request())
            for id in old { try expect(try await store.remove(id), "A record cannot be removed.") }
            try expect("The last id", try await store.lastID(), is: nil)
            let new = try await store.addNew(.request())
            try expect(new[0] > old[1], "The record after \(old[1]) has the id \(new[0]).")
        },
        OfflineStoreConformance("Additions of several stores are all there") { bench in
            let stores = [try await bench.store(), try await bench.store()]
            let added = try await withThrowingTaskGroup(of: [OfflineRecord.ID].self) { group in
                for number in 0..<20 {
                    group.addTask { try await stores[number % 2].addNew(.request(lane: "\(number % 3)"), .request()) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            try expect("The number of ids", Set(added).count, is: 40)
            let found = try await stores[0].records(.all, after: nil, limit: 100).map(\.id)
            try expect("The ids", found, are: added.sorted())
        },
    ]

    static let contents: [OfflineStoreConformance] = [
        OfflineStoreConformance("A record comes back as it was added") { bench in
            let store = try await bench.store()
            var record = NewRecord.request(
                lane: "lane", key: "key", tag: "tag", priority: -3, body: .data(Data("body".utf8)),
                expires: bench.date(in: 86_400))
            record.content.method = "PUT"
            record.content.url = URL(string: "https://b.example:8443/a%20b?q=1&r=%27#f")
            record.content.fields = ["X-One": "1", "Content-Type": "text/plain; charset=\"utf-8\""]
            record.content.timeout = 12.5
            record.content.constraints = ["reachable", "a, \"b\"", "unmetered"]
            record.content.userInfo = Data([0, 255, 10])
            let id = try await store.addNew(record)[0]
            let found = try await store.existing(id)
            try expect("The method", found.content.method, is: "PUT")
            try expect("The URL", found.content.url, is: record.content.url)
            try expect("The origin", found.content.origin, is: "https://b.example:8443")
            try expect("The fields", found.content.fields, are: record.content.fields)
            try expect("The time-out", found.content.timeout, is: 12.5)
            try expect("The constraints", Set(found.content.constraints), are: Set(record.content.constraints))
            try expect("The user info", found.content.userInfo, is: record.content.userInfo)
            try expect("The idempotency key", found.content.idempotencyKey, is: record.content.idempotencyKey)
            try expect("The lane", found.lane, is: "lane")
            try expect("The tag", found.tag, is: "tag")
            try expect("The unique key", found.uniqueKey, is: "key")
            try expect("The priority", found.priority, is: -3)
            try expect("The attempts", [found.attempts, found.refusals], are: [0, 0])
            try expect("The last failure", found.lastFailure, is: nil)
            try expect("The body", found.body, is: .data(Data("body".utf8)))
            try expect("The size of the body", found.bodySize, is: 4)
            try expect("The state", found.state, is: .pending)
            let expiry = try unwrap(found.expires, "The record does not expire.")
            try expect(
                abs(expiry.timeIntervalSince(record.expires ?? expiry)) < 0.001, "The record expires at \(expiry).")
            let age = bench.date(in: 0).timeIntervalSince(found.added)
            try expect(abs(age) < 60, "The record was added \(age) s ago.")
        },
        OfflineStoreConformance("A message comes back as it was added") { bench in
            let store = try await bench.store()
            let id = try await store.addNew(.message("a message"))[0]
            let found = try await store.existing(id)
            try expect("The message", found.content.message, is: "a message")
            try expect("The URL", found.content.url, is: nil)
            try expect("The payload", found.body, is: .data(Data("payload".utf8)))
        },
        OfflineStoreConformance("Texts come back character for character") { bench in
            let store = try await bench.store()
            let texts = [
                "'; DROP TABLE records; --", "\"quoted\" \\ back\\slash", "100 % _ ? $1 :name @x {a,b} [1]", " spaces ",
                "line\nbreak\r\ttab", "\u{1}\u{7F}\u{FEFF}", "e\u{301} ≠ é", "👩‍👩‍👧‍👦 𝄞", "عربى עברית", "",
            ]
            for text in texts {
                var record = NewRecord.request(lane: text, key: text, tag: text)
                record.content.fields = ["X-Text": text]
                record.content.idempotencyKey = text
                let found = try await store.existing(try await store.addNew(record)[0])
                let parts = [
                    found.lane, found.tag, found.uniqueKey, found.content.fields?["X-Text"],
                    found.content.idempotencyKey,
                ]
                // Equal strings may have other characters.
                try expect(
                    parts.allSatisfy { $0.map { Array($0.utf8) } == Array(text.utf8) },
                    "The text \(text.debugDescription) came back as \(parts).")
                let inLane = try await store.records(RecordFilter(lane: text), after: nil, limit: 10).map(\.id)
                try expect("The records of the lane \(text.debugDescription)", inLane, are: [found.id])
            }
        },
        OfflineStoreConformance("Bodies come back byte for byte") { bench in
            let store = try await bench.store()
            let bytes = Data((0..<256).map { UInt8($0) })
            let large = Data((0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            for data in [Data(), Data([0]), bytes, large] {
                let body = try await store.keep(.data(data), inlineLimit: 64 << 10)
                try expect("The size that is kept", body.size, is: Int64(data.count))
                var record = NewRecord.request()
                (record.body, record.bodySize, record.content.bodyChecksum) = (body.stored, body.size, body.checksum)
                let found = try await store.existing(try await store.addNew(record)[0])
                try expect(try await store.isWhole(found), "A body of \(data.count) bytes is not whole.")
                let read =
                    switch found.body {
                    case .none: Data()
                    case .data(let data): data
                    case .file(let file): try Data(contentsOf: file)
                    }
                try expect(read == data, "A body of \(data.count) bytes came back with \(read.count) other ones.")
                try expect("The size of the body", found.bodySize, is: Int64(data.count))
            }
        },
    ]

    static let uniqueKeys: [OfflineStoreConformance] = [
        OfflineStoreConformance("Records with one key stand beside each other if they are appended") { bench in
            let store = try await bench.store()
            let ids = try await store.addNew(.request(key: "k"), .request(key: "k"))
            try expect("The newest record with the key", try await store.mergeable(withKey: "k")?.id, is: ids[1])
        },
        OfflineStoreConformance("A key that is kept refuses a second record, also beside one in flight") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(key: "k", .keep))[0]
            for _ in 0..<2 {
                guard case .kept(id) = try await store.addOne(.request(lane: "m", key: "k", .keep)) else {
                    throw ConformanceFailure("A second record with the key was not refused.")
                }
                _ = try await sender.claim()
            }
            try expect("The last id", try await store.lastID(), is: id)
            try await sender.deliver(id)
            guard case .added = try await store.addOne(.request(key: "k", .keep)) else {
                throw ConformanceFailure("The key is taken after the delivery.")
            }
        },
        OfflineStoreConformance("A record replaces those with its key that are not in flight") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let flying = try await store.addNew(.request(lane: "a", key: "k"))[0]
            try expect("The claimed records", try await sender.claimIDs(), are: [flying])
            let old = try await store.addNew(.request(lane: "b", key: "k"), .request(lane: "b"))
            guard case .added(let new, let ended) = try await store.addOne(.request(lane: "b", key: "k", .replace))
            else { throw ConformanceFailure("The new record was not added.") }
            try expect("The replaced records", ended.map(\.0), are: [old[0]])
            try expect("The outcome", ended.first?.1, is: .replaced(by: new))
            try expect("The recorded outcome", try await store.outcome(of: old[0]), is: .replaced(by: new))
            try expect("The old record", try await store.record(old[0])?.id, is: nil)
            try await store.expectState(of: flying, is: .inFlight)
            try expect("The order of the lane", try await sender.deliverAll(), is: [old[1], new])
        },
        OfflineStoreConformance("An addition that expects no record with its key conflicts with one") { bench in
            let store = try await bench.store()
            guard case .added = try await store.addOne(.request(key: "k", .expectNone)) else {
                throw ConformanceFailure("The first record was not added.")
            }
            guard case .conflict = try await store.addOne(.request(key: "k", .expectNone)) else {
                throw ConformanceFailure("There is no conflict.")
            }
            var sender = StoreSender(store)
            _ = try await sender.claim()
            guard case .added = try await store.addOne(.request(key: "k", .expectNone)) else {
                throw ConformanceFailure("There is a conflict with a record in flight.")
            }
        },
        OfflineStoreConformance("An update changes the content, and neither the id nor the place") { bench in
            let store = try await bench.store()
            let id = try await store.addNew(.request(key: "k", tag: "t", path: "old"), .request())[0]
            let old = try unwrap(try await store.mergeable(withKey: "k"), "No record can be merged.")
            let rule = UniqueRule.update(id, checksum: old.checksum)
            let new = NewRecord.request(lane: "m", key: "k", rule, path: "new", body: .data(Data("new".utf8)))
            guard case .kept(id) = try await store.addOne(new) else {
                throw ConformanceFailure("The record was not updated.")
            }
            let found = try await store.existing(id)
            try expect("The URL", found.content.url?.lastPathComponent, is: "new")
            try expect("The body", found.body, is: .data(Data("new".utf8)))
            try expect("The lane and the tag", [found.lane, found.tag], is: ["l", "t"])
            try expect("The idempotency key", found.content.idempotencyKey, is: new.content.idempotencyKey)
            guard case .conflict = try await store.addOne(new) else {
                throw ConformanceFailure("An update of an old form is no conflict.")
            }
            var sender = StoreSender(store)
            try expect("The first record", try await sender.claimIDs(), is: [id])
        },
        OfflineStoreConformance("A record in flight is not updated") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(key: "k"))[0]
            let old = try await store.existing(id)
            _ = try await sender.claim()
            try expect("The record to merge", try await store.mergeable(withKey: "k")?.id, is: nil)
            let rule = UniqueRule.update(id, checksum: old.checksum)
            guard case .conflict = try await store.addOne(.request(key: "k", rule)) else {
                throw ConformanceFailure("There is no conflict.")
            }
        },
        OfflineStoreConformance("The key of a dead letter is free") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(key: "k"))[0]
            _ = try await sender.claim()
            try await sender.settle(id, as: .dead(DeadLetterReason(.rejected, detail: "no")))
            guard case .added(_, let ended) = try await store.addOne(.request(key: "k", .keep)), ended.isEmpty else {
                throw ConformanceFailure("The key is taken.")
            }
        },
    ]

    static let bounds: [OfflineStoreConformance] = [
        OfflineStoreConformance("If one record of a batch is refused, none is added") { bench in
            let store = try await bench.store()
            let bounds = OfflineBounds(count: 2)
            try await expect(.full) {
                try await store.add([.request(), .request(), .request()], bounds: bounds, in: nil)
            }
            try expect("The counts", try await store.counts(), are: OfflineCounts())
            _ = try await store.add([.request(), .request()], bounds: bounds, in: nil)
            try await expect(.full) { try await store.addOne(.request(), bounds: bounds) }
        },
        OfflineStoreConformance("The bytes of bodies are bounded") { bench in
            let store = try await bench.store()
            let body = StoredBody.data(Data(repeating: 1, count: 60))
            let bounds = OfflineBounds(bytes: 100)
            let id = try await store.addNew(.request(body: body))[0]
            try await expect(.full) { try await store.addOne(.request(body: body), bounds: bounds) }
            _ = try await store.remove(id)
            guard case .added = try await store.addOne(.request(body: body), bounds: bounds) else {
                throw ConformanceFailure("A removed record still takes room.")
            }
        },
        OfflineStoreConformance("A full queue drops its oldest records, dead letters first") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let bounds = OfflineBounds(count: 3, policy: .dropOldest)
            let ids = try await store.addNew(.request(lane: "a"), .request(lane: "a"), .request(lane: "b"))
            _ = try await sender.claim()
            // The first one stays, since it is in flight.
            try await sender.settle(ids[2], as: .dead(DeadLetterReason(.rejected, detail: "no")))
            for dropped in [ids[2], ids[1]] {
                guard case .added(_, let ended) = try await store.addOne(.request(lane: "c"), bounds: bounds) else {
                    throw ConformanceFailure("The new record was not added.")
                }
                try expect("The dropped records", ended.map(\.0), are: [dropped])
                try expect("The outcome", try await store.outcome(of: dropped), is: .dropped(.count))
            }
            try await store.expectState(of: ids[0], is: .inFlight)
        },
    ]
}
