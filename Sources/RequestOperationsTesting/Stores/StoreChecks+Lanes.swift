import Foundation
import OfflineRequests

extension OfflineStoreConformance {
    private static let paused = OfflineRecord.State.waiting(until: nil, .paused)

    static let lanes: [OfflineStoreConformance] = [
        OfflineStoreConformance("A paused lane is not claimed, and goes on in its order") { bench in
            let (store, other) = (try await bench.store(), try await bench.store())
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request(), .request(lane: "other"))
            try expect(try await other.pause(lane: "l", because: .requested), "The lane could not be paused.")
            try expect("The claimed records", try await sender.claimIDs { $0.limit = 1 }, are: [ids[2]])
            try await store.expectState(of: ids[0], is: paused)
            try await store.expectState(of: ids[1], is: .pending)
            let later = try await store.addNew(.request())
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            try expect(try await other.resume(lane: "l"), "The lane could not be resumed.")
            try await store.expectState(of: ids[0], is: .pending)
            try expect("The order of the lane", try await sender.deliverAll(), is: [ids[0], ids[1]] + later)
        },
        OfflineStoreConformance("The paused lanes are known, with their reasons") { bench in
            let (store, other) = (try await bench.store(), try await bench.store())
            let date = Date(timeIntervalSince1970: 1_700_000_000)
            let reasons: [(String, LanePauseReason)] = [
                ("", .requested), ("a", .failing(since: date)), ("b 'x'", .status(410)),
            ]
            for (lane, reason) in reasons.reversed() {
                try expect(try await store.pause(lane: lane, because: reason), "The lane could not be paused.")
                try expect(try await !store.pause(lane: lane, because: .requested), "The lane was paused twice.")
            }
            let found = try await other.pausedLanes()
            try expect("The lanes", found.map(\.lane), are: [nil, "a", "b 'x'"])
            try expect("The reasons", found.map(\.reason), are: reasons.map(\.1))
            for lane in found {
                let age = bench.date(in: 0).timeIntervalSince(lane.since)
                try expect(abs(age) < 60, "A lane was paused \(age) s ago.")
            }
            for (lane, _) in reasons {
                try expect(try await other.resume(lane: lane), "The lane could not be resumed.")
                try expect(try await !store.resume(lane: lane), "The lane was resumed twice.")
            }
            try expect("The lanes", try await store.pausedLanes(), are: [])
        },
        OfflineStoreConformance("A record in flight ends in a paused lane, and the next one stays") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim()
            _ = try await store.pause(lane: "l", because: .requested)
            try expect(try await store.maySend(ids[0], under: sender.lease), "The attempt may not be made.")
            try expect("The result", try await sender.deliver(ids[0]), is: .recorded)
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            try await store.expectState(of: ids[1], is: paused)
        },
        OfflineStoreConformance("A wait that ends in a paused lane goes on until the lane is resumed") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request())[0]
            _ = try await sender.claim()
            _ = try await store.pause(lane: "l", because: .requested)
            try await sender.settle(id, as: .waits(.failure(delay: .zero)))
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            try await store.expectState(of: id, is: paused)
            _ = try await store.resume(lane: "l")
            try expect("The claimed records", try await sender.claimIDs(), are: [id])
        },
        OfflineStoreConformance("A pause and a resumption keep a wait for a time") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let id = try await store.addNew(.request(notBefore: bench.date(in: 3600)))[0]
            _ = try await sender.claim()
            _ = try await store.pause(lane: "l", because: .requested)
            _ = try await sender.claim()
            _ = try await store.resume(lane: "l")
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            guard case .waiting(.some, .notBefore) = try await store.existing(id).state else {
                throw ConformanceFailure("The record does not wait for its earliest time any more.")
            }
        },
        OfflineStoreConformance("An empty lane stays paused") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let old = try await store.addNew(.request())[0]
            _ = try await store.pause(lane: "l", because: .requested)
            _ = try await sender.claim()
            _ = try await store.remove(old)
            let id = try await store.addNew(.request())[0]
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            try await store.expectState(of: id, is: paused)
        },
        OfflineStoreConformance("Paused lanes take no places of others, however many they are") { bench in
            let store = try await bench.store()
            var sender = StoreSender(store)
            let lanes = (0..<30).map { "\($0)" }
            for lane in lanes { _ = try await store.pause(lane: lane, because: .requested) }
            try await store.addNew(lanes.map { .request(lane: $0) })
            let id = try await store.addNew(.request(lane: "other"))[0]
            try expect(
                "The claimed records", try await sender.claimIDs { ($0.limit, $0.perOrigin) = (1, 1) }, are: [id])
        },
        OfflineStoreConformance("A lane that fails for too long is paused") { bench in
            let store = try await bench.store { $0.lanePatience = .milliseconds(200) }
            var sender = StoreSender(store)
            let id = try await store.addNew(.request())[0]
            let start = bench.date(in: 0)
            _ = try await sender.claim()
            let first = try await sender.settle(id, as: .waits(.failure(delay: .zero)))
            try expect("The first result", first, is: .recorded)
            try await bench.pass(.milliseconds(400))
            _ = try await sender.claim()
            let second = try await sender.settle(id, as: .waits(.failure(attempts: 2, delay: .zero)))
            try expect("The second result", second, is: .recordedAndLanePaused)
            guard case .failing(let since) = try await store.pausedLanes().first?.reason else {
                throw ConformanceFailure("The lane is not paused for failing.")
            }
            let delay = since.timeIntervalSince(start)
            try expect(abs(delay) < 60, "The lane is said to fail since \(delay) s after its first failure.")
            try expect("The claimed records", try await sender.claimIDs(), are: [])
            _ = try await store.resume(lane: "l")
            // The time begins anew.
            _ = try await sender.claim()
            let third = try await sender.settle(id, as: .waits(.failure(attempts: 3, delay: .zero)))
            try expect("The result after the resumption", third, is: .recorded)
        },
        OfflineStoreConformance("A delivery ends the time that a lane fails") { bench in
            let store = try await bench.store { $0.lanePatience = .milliseconds(200) }
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request())
            _ = try await sender.claim()
            try await sender.settle(ids[0], as: .waits(.failure(delay: .zero)))
            _ = try await sender.claim()
            try await sender.deliver(ids[0])
            try await bench.pass(.milliseconds(400))
            _ = try await sender.claim()
            let result = try await sender.settle(ids[1], as: .waits(.failure(delay: .zero)))
            try expect("The result", result, is: .recorded)
        },
        OfflineStoreConformance("Dead letters are failures of their lane") { bench in
            let store = try await bench.store { $0.lanePatience = .milliseconds(200) }
            var sender = StoreSender(store)
            let ids = try await store.addNew(.request(), .request(), .request())
            let dead = Settlement.dead(DeadLetterReason(.rejected, detail: "no", status: 404))
            _ = try await sender.claim()
            try expect("The first result", try await sender.settle(ids[0], as: dead), is: .recorded)
            try await bench.pass(.milliseconds(400))
            _ = try await sender.claim()
            try expect("The second result", try await sender.settle(ids[1], as: dead), is: .recordedAndLanePaused)
            try expect("The claimed records", try await sender.claimIDs(), are: [])
        },
        OfflineStoreConformance("Nothing is paused for failing without a limit, or without the name of a lane") {
            bench in
            for (lane, patience) in [("l", nil), ("", Duration.milliseconds(100))] {
                let store = try await bench.store { $0.lanePatience = patience }
                var sender = StoreSender(store)
                let id = try await store.addNew(.request(lane: lane))[0]
                for attempts in 1...2 {
                    try expect("The claimed records", try await sender.claimIDs(), are: [id])
                    let note = FailureNote.failure(attempts: attempts, delay: .zero)
                    try expect("The result", try await sender.settle(id, as: .waits(note)), is: .recorded)
                    try await bench.pass(.milliseconds(200))
                }
                _ = try await store.remove(id)
                try expect("The paused lanes", try await store.pausedLanes(), are: [])
            }
        },
    ]
}
