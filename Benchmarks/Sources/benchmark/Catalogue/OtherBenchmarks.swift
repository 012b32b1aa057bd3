import Foundation

extension Catalogue {
    /// Memory after many requests, and neighbours of a slow stage.
    var others: [Benchmark] {
        [
            residue("memory-1k", page: "1k", \.small, requests: 20_000, bound: 25),
            residue("memory-100k", page: "100k", \.medium, requests: 5000, bound: 40),
            slowValidation,
        ]
    }

    /// Mixed traffic with faults.
    var soak: Benchmark {
        Benchmark(
            name: "soak", title: "\(options.minutes) minutes of mixed traffic with faults, over TLS and HTTP/2 too",
            rounds: 1, measures: [.rate, .growth, .floorRatio, .descriptors, .lost, .threads],
            floors: [
                Floor(name: "memory at the end / after the warm-up", bound: .atMost(1.05)) {
                    $0.value(.floorRatio, of: "operation")
                },
                Floor(name: "operations lost or ended twice", bound: .atMost(0)) { $0.value(.lost, of: "operation") },
                Floor(name: "descriptors more than at the beginning", bound: .atMost(0)) {
                    $0.value(.descriptors, of: "operation")
                },
            ]
        ) { testbed in
            let order = SoakOrder(
                sites: try testbed.faultyServer().sites, authority: try testbed.server().authority.path,
                minutes: options.minutes)
            return [Contender(name: "operation", title: ClientKind.operation.title, order: .soak(order))]
        }
    }

    private func residue(
        _ name: String, page: String, _ body: KeyPath<Nginx, BodyExpectation>, requests: Int, bound: Double
    ) -> Benchmark {
        Benchmark(
            name: name, title: "The process after \(requests) requests of \(page), 64 in flight",
            measures: [.growth, .peak],
            floors: [
                Floor(name: "memory above rest, in MB", bound: .atMost(bound)) {
                    $0.value(.growth, of: ClientKind.operation.rawValue)
                }
            ]
        ) { testbed in
            try [ClientKind.operation, .operationOverURLSession, .asyncHTTPClientOperation].map { client in
                var order = try order(client, page, body, 64, in: testbed)
                order.amount = .requests(options.isQuick ? requests / 10 : requests)
                return Contender(name: client.rawValue, title: client.title, order: .residue(order))
            }
        }
    }

    private var slowValidation: Benchmark {
        Benchmark(
            name: "validate",
            title: "A validation that sleeps 100 ms in one of 64 requests: the delay of the last other",
            measures: [.delay],
            floors: [
                Floor(name: "delay of the others, in ms", bound: .atMost(5)) {
                    $0.value(.delay, of: ClientKind.operation.rawValue)
                }
            ]
        ) { testbed in
            try [ClientKind.operation, .operationOverURLSession].map { client in
                Contender(
                    name: client.rawValue, title: client.title,
                    order: .slowValidation(try order(client, "1k", \.small, 64, in: testbed)))
            }
        }
    }
}
