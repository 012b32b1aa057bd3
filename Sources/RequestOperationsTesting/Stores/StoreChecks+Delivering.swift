import Foundation
import OfflineRequests
import RequestOperations

extension FailureNote {
    /// A failure that the server answered, or that did not reach it.
    static func failure(
        attempts: Int = 1, delay: Duration = .seconds(3600), _ reason: OfflineRecord.WaitReason = .backoff
    ) -> FailureNote {
        FailureNote(
            attempts: attempts, refusals: reason == .network ? 0 : attempts, failure: "a \"failure\"", delay: delay,
            reason: reason)
    }
}

extension OfflineStoreConformance {
    static let delivering: [OfflineStoreConformance] = [
        OfflineStoreConformance("A delivered record is gone, and its outcome stays") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            for status in [204, nil] {
                let id = try await store.addNew(.request(body: .data(Data("body".utf8))))[0]
                _ = try await sender.claim()
                let result = try await sender.settle(id, as: .delivered(status: status))
                try expect("The result", result, is: .recorded)
                try expect("The record", try await store.record(id)?.id, is: nil)
                try expect("The outcome", try await store.outcome(of: id), is: .delivered(status: status))
            }
            try expect("The counts", try await store.counts(), are: OfflineCounts())
        },
        OfflineStoreConformance("A record that failed waits, and holds up its lane") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim()
            let note = FailureNote.failure(attempts: 3)
            try expect("The result", try await sender.settle(ids[0], as: .waits(note)), is: .recorded)
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            let found = try await store.existing(ids[0])
            try expect("The attempts", [found.attempts, found.refusals], are: [3, 3])
            try expect("The failure", found.lastFailure, is: note.failure)
            guard case .waiting(let until?, .backoff) = found.state else {
                throw ConformanceFailure("The state of the record is \(found.state).")
            }
            let wait = until.timeIntervalSince(bench.date(in: 0))
            try expect(wait > 3000 && wait < 4200, "The record waits for \(wait) s.")
            let next = try unwrap(sender.next, "No later claim is worth it.")
            try expect(next > .seconds(3000) && next < .seconds(4200), "The next claim is worth it in \(next).")
        },
        OfflineStoreConformance("A wait ends when its time is over") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim()
            try await sender.settle(ids[0], as: .waits(.failure(delay: .milliseconds(100))))
            try await bench.pass(.milliseconds(200))
            try expect("The claimed records", try await sender.claimIDs(), are: [ids[0]])
            try expect("The attempts", try await store.existing(ids[0]).attempts, are: 1)
            // Without a delay it is due at once.
            try await sender.settle(ids[0], as: .waits(.failure(attempts: 2, delay: .zero)))
            try expect("The order of the lane", try await sender.deliverAll(), is: ids)
        },
        OfflineStoreConformance("A dead letter stays with its reason, and its lane goes on") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim()
            for reason in [
                DeadLetterReason(.rejected, detail: "404: \"not\" found", status: 404),
                DeadLetterReason(.undecodable, detail: ""),
            ] {
                let id = reason.status == nil ? ids[1] : ids[0]
                try expect("The result", try await sender.settle(id, as: .dead(reason)), is: .recorded)
                try await store.expectState(of: id, is: .dead(reason))
                try expect("The attempts", try await store.existing(id).attempts, are: 1)
                if reason.status != nil {
                    try expect("The next record", try await sender.claimIDs(), is: [ids[1]])
                }
            }
            try expect("The claimed records", try await sender.claimIDs(), are: [])
        },
        OfflineStoreConformance("A record that was removed in flight keeps that outcome") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            for settlement in [
                Settlement.delivered(status: 204), .waits(.failure()), .dead(DeadLetterReason(.rejected, detail: "no")),
            ] {
                // A second record keeps the lease.
                let ids = try await store.addNew(.request(), .request(lane: "other"))
                _ = try await sender.claim()
                try expect(try await store.remove(ids[0]), "The record could not be removed.")
                try expect("The result", try await sender.settle(ids[0], as: settlement), is: .removed)
                try expect("The outcome", try await store.outcome(of: ids[0]), is: .removed)
                try expect("The record", try await store.record(ids[0])?.id, is: nil)
                try await sender.deliver(ids[1])
            }
        },
        OfflineStoreConformance("A noted attempt is shown as a wait, and stays in flight") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request())[0]
            _ = try await sender.claim()
            try expect(try await store.maySend(id, under: sender.lease), "It may not be sent.")
            try await store.note(.failure(delay: .seconds(4), .network), of: id, under: sender.lease)
            let found = try await store.existing(id)
            guard case .waiting(.some, .network) = found.state, found.attempts == 1 else {
                throw ConformanceFailure("After \(found.attempts) attempts, it is shown as \(found.state).")
            }
            try expect("The waiting records", try await store.counts().waiting, are: 1)
            try expect("The records in flight", try await store.beat(sender.lease), are: [id])
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            try expect(try await store.maySend(id, under: sender.lease), "It may not be sent again.")
            try await store.expectState(of: id, is: .inFlight)
            try await sender.deliver(id)
        },
        OfflineStoreConformance("A record that was removed may not be sent") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request(lane: "other"))
            _ = try await sender.claim()
            _ = try await store.remove(ids[0])
            try expect(try await !store.maySend(ids[0], under: sender.lease), "It may be sent.")
            try expect(try await store.maySend(ids[1], under: sender.lease), "The other one may not be sent.")
            try expect("The records in flight", try await store.beat(sender.lease), are: [ids[1]])
        },
    ]

    static let leases: [OfflineStoreConformance] = [
        OfflineStoreConformance("What was in flight under a released lease is sent again, in its order") { bench in
            let (store, other) = (try await bench.store(), try await bench.store())
            var (sender, successor) = (StoreSender(store), StoreSender(other))
            let ids = try await store.addNew(.request(), .request())
            try expect("The claimed records", try await sender.claimIDs(), are: [ids[0]])
            try await store.release(sender.lease)
            try await store.expectState(of: ids[0], is: .pending)
            try expect("The order of the lane", try await successor.deliverAll(), is: ids)
        },
        OfflineStoreConformance("An outcome under an old lease is refused, and changes nothing") { bench in
            let (store, other) = (try await bench.store(), try await bench.store())
            var (sender, successor) = (StoreSender(store), StoreSender(other))
            let id = try await store.addNew(.request())[0]
            _ = try await sender.claim()
            try await store.release(sender.lease)
            try expect("The records of the successor", try await successor.claimIDs(), are: [id])
            for settlement in [
                Settlement.delivered(status: 204), .waits(.failure()), .dead(DeadLetterReason(.rejected, detail: "no")),
            ] {
                try await expect(.leaseLost) { try await store.settle(id, as: settlement, under: sender.lease) }
            }
            try expect(try await !store.maySend(id, under: sender.lease), "It may be sent under the old lease.")
            try await expect(.leaseLost) { try await store.beat(sender.lease) }
            try await store.expectState(of: id, is: .inFlight)
            try expect("The attempts", try await store.existing(id).attempts, are: 0)
            try expect("The result", try await successor.deliver(id), is: .recorded)
        },
        OfflineStoreConformance("A silent sender is replaced after its lease") { bench in
            let (store, other) = (try await bench.store(), try await bench.store())
            var (sender, successor) = (StoreSender(store), StoreSender(other))
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim { $0.leaseDuration = .seconds(1) }
            var claimed: [OfflineRecord.ID] = []
            // It is watched as a dispatcher does it.
            for _ in 0..<50 where claimed.isEmpty {
                try await bench.pass(.milliseconds(200))
                if case .claimed(_, let records) = try await successor.claimOnce().answer {
                    claimed = records.map(\.id)
                }
            }
            try expect("The records of the successor", claimed, are: [ids[0]])
            try await expect(.leaseLost) {
                try await store.settle(ids[0], as: .delivered(status: 204), under: sender.lease)
            }
            try expect("The result", try await successor.deliver(ids[0]), is: .recorded)
        },
        OfflineStoreConformance("A sender that beats keeps its records beyond its lease") { bench in
            let (store, other) = (try await bench.store { $0.leaseDuration = .seconds(2) }, try await bench.store())
            var (sender, rival) = (StoreSender(store), StoreSender(other))
            let id = try await store.addNew(.request())[0]
            _ = try await sender.claim { $0.leaseDuration = .seconds(2) }
            for _ in 0..<15 {
                try await bench.pass(.milliseconds(200))
                try expect("The records in flight", try await store.beat(sender.lease), are: [id])
                if case .claimed = try await rival.claimOnce().answer {
                    throw ConformanceFailure("Another store has claimed a record in flight.")
                }
            }
            try expect("The result", try await sender.deliver(id), is: .recorded)
        },
        OfflineStoreConformance("What a claim left in flight unnoticed is claimed again") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(lane: "a"), .request(lane: "b"))
            _ = try await sender.claim()
            // The dispatcher knows of the first record only.
            sender.delivering = [ids[0]]
            var claimed: [OfflineRecord.ID] = []
            for _ in 0..<3 where claimed.isEmpty {
                claimed = try await sender.claimIDs()
                _ = try await store.beat(sender.lease)
            }
            try expect("The records that are claimed again", claimed, are: [ids[1]])
            try await store.expectState(of: ids[0], is: .inFlight)
        },
        OfflineStoreConformance("One store sends, or each record is claimed by one of them") { bench in
            let stores = [try await bench.store(), try await bench.store()]
            var senders = stores.map(StoreSender.init)
            let ids = try await stores[0].addNew((0..<8).map { .request(lane: "\($0)") })
            let first = try await senders[0].claimIDs { $0.limit = 4 }
            try expect("The records of the first store", first, are: Array(ids[..<4]))
            guard bench.isShared else {
                guard case .held = try await senders[1].claimOnce().answer else {
                    throw ConformanceFailure("The second store sends beside the first one.")
                }
                return
            }
            try expect("The records of the second store", try await senders[1].claimIDs(), are: Array(ids[4...]))
            for index in 0..<2 {
                let beats = try await stores[index].beat(senders[index].lease)
                try expect("The records in flight", beats, are: senders[index].delivering)
            }
        },
        OfflineStoreConformance("A shared store applies the bound of an origin to all senders") { bench in
            guard bench.isShared else { return }
            let stores = [try await bench.store(), try await bench.store()]
            var senders = stores.map(StoreSender.init)
            try await stores[0].addNew((0..<8).map { .request(lane: "\($0)") })
            let first = try await senders[0].claimIDs { ($0.limit, $0.originBound) = (2, 3) }
            try expect("The number of records of the first store", first.count, is: 2)
            let second = try await senders[1].claimIDs { $0.originBound = 3 }
            try expect("The number of records of the second store", second.count, is: 1)
            try await senders[0].deliver(first[0])
            try expect("The number of further records", try await senders[1].claim { $0.originBound = 3 }.count, is: 1)
        },
        OfflineStoreConformance("A shared store lets an origin rest for all senders") { bench in
            guard bench.isShared else { return }
            let stores = [try await bench.store(), try await bench.store()]
            var senders = stores.map(StoreSender.init)
            let ids = try await stores[0].addNew(.request(lane: "a"), .request(lane: "b"))
            let other = try await stores[0].addNew(.request(lane: "c", host: "b.example"))[0]
            try expect("The first record", try await senders[0].claimIDs { $0.limit = 1 }, is: [ids[0]])
            var note = FailureNote.failure(.retryAfter)
            note.originRests = .seconds(3600)
            try await senders[0].settle(ids[0], as: .waits(note))
            try expect("The records of the second store", try await senders[1].claimIDs(), are: [other])
        },
    ]

    static let waits: [OfflineStoreConformance] = [
        OfflineStoreConformance("A new network ends the waits for one, and no others") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let reasons: [OfflineRecord.WaitReason] = [.network, .backoff, .retryAfter, .network]
            let ids = try await store.addNew(reasons.indices.map { .request(lane: "\($0)") })
            _ = try await sender.claim()
            for (id, reason) in zip(ids, reasons) { try await sender.settle(id, as: .waits(.failure(reason))) }
            try expect("The number of waits", try await store.wake(.network), is: 2)
            try expect("The claimed records", Set(try await sender.claimIDs()), are: [ids[0], ids[3]])
            try expect("The number of further waits", try await store.wake(.network), is: 0)
        },
        OfflineStoreConformance("A success at an origin ends so many waits for it as are asked for") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let reasons: [OfflineRecord.WaitReason] = [.backoff, .network, .backoff, .retryAfter]
            let ids = try await store.addNew(reasons.indices.map { .request(lane: "\($0)") })
            let other = try await store.addNew(.request(lane: "other", host: "b.example"))
            _ = try await sender.claim()
            for (id, reason) in zip(ids + other, reasons + [.backoff]) {
                try await sender.settle(id, as: .waits(.failure(reason)))
            }
            try expect("The number of waits", try await store.wake(.origin("https://a.example:", limit: 2)), is: 2)
            let first = try await sender.claimIDs()
            try expect("The number of claimed records", first.count, is: 2)
            try expect(
                "The number of further waits", try await store.wake(.origin("https://a.example:", limit: 9)), is: 1)
            try expect("The claimed records", Set(first + (try await sender.claimIDs())), are: Set(ids[..<3]))
        },
        OfflineStoreConformance("The origins that records wait for are known, each once") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let hosts: [(String, OfflineRecord.WaitReason)] = [
                ("b.example", .backoff), ("a.example", .network), ("b.example", .network), ("c.example", .retryAfter),
            ]
            let ids = try await store.addNew(hosts.enumerated().map { .request(lane: "\($0)", host: $1.0) })
            try await store.addNew(.request(lane: "pending", host: "d.example"))
            _ = try await sender.claim { $0.limit = 4 }
            for (id, host) in zip(ids, hosts) { try await sender.settle(id, as: .waits(.failure(host.1))) }
            let found = try await store.waitingOrigins(limit: 10)
            try expect("The origins", found.sorted(), are: ["https://a.example:", "https://b.example:"])
            try expect("The number of origins", try await store.waitingOrigins(limit: 1).count, is: 1)
        },
        OfflineStoreConformance("Only a wait after a failure can be too long") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew((0..<2).map { .request(lane: "\($0)") })
            let early = try await store.addNew(.request(lane: "early", notBefore: bench.date(in: 864_000)))[0]
            _ = try await sender.claim()
            try await sender.settle(ids[0], as: .waits(.failure(delay: .seconds(864_000))))
            try await sender.settle(ids[1], as: .waits(.failure(delay: .seconds(60))))
            let longest = LongestWaits(backoff: .constant(.seconds(3600)), retryAfter: .seconds(3600))
            try expect("The number of waits", try await store.endWaits(longerThan: longest), is: 1)
            try expect("The claimed records", try await sender.claimIDs(), are: [ids[0]])
            guard case .waiting(.some, .notBefore) = try await store.existing(early).state else {
                throw ConformanceFailure("A record does not wait for its earliest time any more.")
            }
        },
    ]
}
