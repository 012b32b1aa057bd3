import Foundation
import OfflineRequests

extension OfflineStoreConformance {
    static let claiming: [OfflineStoreConformance] = [
        OfflineStoreConformance("A lane has one record in flight, and goes on in its order") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew((0..<5).map { _ in .request() })
            for id in ids {
                try expect("The claimed records", try await sender.claimIDs(), are: [id])
                try expect("The records beside it", try await sender.claimIDs(), are: [])
                try await store.expectState(of: id, is: .inFlight)
                try await sender.deliver(id)
            }
            try expect("The rest", try await sender.claimIDs(), is: [])
        },
        OfflineStoreConformance("Lanes do not wait for each other") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(
                .request(lane: "a"), .request(lane: "a"), .request(lane: "b"), .request(lane: ""), .request(lane: ""))
            try expect("The claimed records", Set(try await sender.claimIDs()), are: [ids[0], ids[2], ids[3]])
        },
        OfflineStoreConformance("A claimed record comes with its body and content") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let body = StoredBody.data(Data("body".utf8))
            let ids = try await store.addNew(
                .request(lane: "a", path: "p", body: body), .message("m", lane: "b"))
            let records = try await sender.claim { $0.handlers = ["m"] }.sorted { $0.id < $1.id }
            try expect("The claimed records", records.map(\.id), are: ids)
            try expect("The URL", records[0].content.url?.lastPathComponent, is: "p")
            try expect("The body", records[0].body, is: body)
            try expect("The message", records[1].content.message, is: "m")
            try expect("The payload", records[1].body, is: .data(Data("payload".utf8)))
        },
        OfflineStoreConformance("The highest priority among the lanes goes first, then the lowest id") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(
                [0, 5, -5, 5, 0].enumerated().map { .request(lane: "\($0)", priority: $1) })
            let order = [1, 3, 0, 4, 2].map { ids[$0] }
            let first = try await sender.claimIDs { $0.limit = 3 }
            try expect("The order", first, is: Array(order[..<3]))
            for id in first { try await sender.deliver(id) }
            try expect("The order of the rest", try await sender.deliverAll { $0.limit = 1 }, is: Array(order[3...]))
        },
        OfflineStoreConformance("A claim takes no more records than its limit") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew((0..<7).map { .request(lane: "\($0)") })
            try expect("The first records", try await sender.claimIDs { $0.limit = 4 }, are: Array(ids[..<4]))
            try expect("The rest", try await sender.claimIDs { $0.limit = 4 }, is: Array(ids[4...]))
        },
        OfflineStoreConformance("A claim that nobody wants any more takes nothing") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request())[0]
            let claim = try await sender.claimOnce { $0.isWanted = { false } }
            guard case .idle = claim.answer else { throw ConformanceFailure("The claim gave \(claim.answer).") }
            try await store.expectState(of: id, is: .pending)
            try expect("The records of a later claim", try await sender.claimIDs(), are: [id])
        },
        OfflineStoreConformance("A record waits for its earliest time, and holds up its lane") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let date = bench.date(in: 3600)
            let ids = try await store.addNew(.request(notBefore: date), .request())
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            guard case .waiting(let until?, .notBefore) = try await store.existing(ids[0]).state else {
                throw ConformanceFailure("The record does not wait for its earliest time.")
            }
            try expect(abs(until.timeIntervalSince(date)) < 0.001, "The record waits until \(until), not \(date).")
            let next = try unwrap(sender.next, "No later claim is worth it.")
            try expect(next > .seconds(3000) && next < .seconds(4200), "The next claim is worth it in \(next).")
            try expect(
                "The counts", [try await store.counts().waiting, try await store.counts().pending], are: [1, 1])
        },
        OfflineStoreConformance("An earliest time that has passed is none") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(notBefore: bench.date(in: -3600)))[0]
            try expect("The claimed records", try await sender.claimIDs(), are: [id])
        },
        OfflineStoreConformance("A record is a dead letter once it expires, and its lane goes on") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(expires: bench.date(in: -3600)), .request())
            try expect("The claimed records", try await sender.claimIDs(), are: [ids[1]])
            guard case .dead(let reason) = try await store.existing(ids[0]).state else {
                throw ConformanceFailure("The record is no dead letter.")
            }
            try expect("The kind of the reason", reason.kind, is: .expired)
            try expect("What the claim says", sender.ended[ids[0]], is: .dead(reason))
        },
        OfflineStoreConformance("A record that is too old is dropped") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let old = try await store.addNew(.request())[0]
            try await bench.pass(.milliseconds(200))
            try expect("The claimed records", try await sender.claimIDs { $0.maximumAge = .milliseconds(100) }, are: [])
            try expect("What the claim says", sender.ended[old], is: .dropped(.age))
            try expect("The outcome", try await store.outcome(of: old), is: .dropped(.age))
            let new = try await store.addNew(.request())[0]
            try expect(
                "The records of a later claim", try await sender.claimIDs { $0.maximumAge = .seconds(3600) }, are: [new]
            )
        },
        OfflineStoreConformance("A message waits until a sender has a handler for it") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.message("m"), .message("n", lane: "other"))
            try expect("The claimed records", try await sender.claimIDs { $0.handlers = ["n"] }, are: [ids[1]])
            try await store.expectState(of: ids[0], is: .waiting(until: nil, .handler))
            let both: Set = ["m", "n"]
            try expect("The records of a later claim", try await sender.claimIDs { $0.handlers = both }, are: [ids[0]])
        },
        OfflineStoreConformance("A record waits until its constraints are met") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(constraints: ["reachable", "power"]))[0]
            let other = try await store.addNew(.request(lane: "other"))[0]
            try expect("The claimed records", try await sender.claimIDs(), are: [other])
            try await store.expectState(of: id, is: .waiting(until: nil, .constraint))
            _ = try await store.wake(.constraint)
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            _ = try await store.wake(.constraint)
            let met: Set = ["reachable", "power"]
            try expect("The records of a later claim", try await sender.claimIDs { $0.met = met }, are: [id])
        },
        OfflineStoreConformance("Without a network, only what needs none is claimed") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let hosts = ["a.example", "localhost", "127.0.0.1:8080", "127.example.org", "a.localhost"]
            let remote = try await store.addNew(.request(lane: "remote", priority: 9))[0]
            let ids = try await store.addNew(hosts.map { .request(lane: $0, host: $0) })
            let free = try await store.addNew(.request(lane: "free", host: "b.example", constraints: []))
            let local = [ids[1], ids[2], ids[4]]
            // Any host that begins with 127. counts as local.
            let found = Set(try await sender.claimIDs { $0.isOnline = false }).subtracting([ids[3]])
            try expect("The claimed records", found, are: Set(local + free))
            try await store.expectState(of: remote, is: .pending)
            let rest = try await sender.claimIDs().filter { $0 != ids[3] }
            try expect("The records of a later claim", rest, are: [remote, ids[0]])
        },
    ]

    static let places: [OfflineStoreConformance] = [
        OfflineStoreConformance("An origin gets no more than its places") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew((0..<5).map { .request(lane: "\($0)") })
            let other = try await store.addNew(.request(lane: "other", host: "b.example"))[0]
            let taken = ["https://a.example:": 1]
            let claimed = try await sender.claimIDs { ($0.perOrigin, $0.placesTaken) = (3, taken) }
            try expect("The claimed records", Set(claimed), are: Set(ids[..<2] + [other]))
        },
        OfflineStoreConformance("An origin without a place hides no other, however many lanes it has") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            try await store.addNew((0..<1500).map { .request(lane: "\($0)") })
            let others = try await store.addNew((0..<5).map { .request(lane: "other \($0)", host: "\($0).example") })
            let taken = ["https://a.example:": 10]
            var found: Set<OfflineRecord.ID> = []
            // All may have their turn only after some claims.
            for _ in 0..<10 where found.count < 5 {
                for id in try await sender.claimIDs({ $0.placesTaken = taken }) {
                    found.insert(id)
                    try await sender.deliver(id)
                }
            }
            try expect("The claimed records", found, are: Set(others))
        },
        OfflineStoreConformance("A message needs no place of an origin") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew((0..<3).map { .message("m", lane: "\($0)") })
            let claimed = try await sender.claimIDs { ($0.perOrigin, $0.handlers) = (1, ["m"]) }
            try expect("The claimed records", Set(claimed), are: Set(ids))
        },
    ]
}
