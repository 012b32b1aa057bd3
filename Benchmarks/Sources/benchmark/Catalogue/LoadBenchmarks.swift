import Foundation

extension Catalogue {
    private static let clients: [ClientKind] = [
        .limit, .operation, .operationOverURLSession, .session, .asyncHTTPClient, .asyncHTTPClientOperation,
    ]

    /// Many GETs by all clients.
    var loads: [Benchmark] {
        [
            load("1k-1", "GETs of 1 KiB, 1 in flight", page: "1k", \.small, inFlight: 1, floors: singleFloors),
            load("1k-16", "GETs of 1 KiB, 16 in flight", page: "1k", \.small, inFlight: 16),
            load("1k-64", "GETs of 1 KiB, 64 in flight", page: "1k", \.small, inFlight: 64, floors: mainFloors),
            load("1k-256", "GETs of 1 KiB, 256 in flight", page: "1k", \.small, inFlight: 256),
            load("1k-1000", "GETs of 1 KiB, 1000 in flight", page: "1k", \.small, inFlight: 1000),
            load("100k-1", "GETs of 100 KiB, 1 in flight", page: "100k", \.medium, inFlight: 1),
            load("100k-16", "GETs of 100 KiB, 16 in flight", page: "100k", \.medium, inFlight: 16),
            load(
                "100k-64", "GETs of 100 KiB, 64 in flight", page: "100k", \.medium, inFlight: 64, floors: mediumFloors),
            load("100k-256", "GETs of 100 KiB, 256 in flight", page: "100k", \.medium, inFlight: 256),
            load(
                "tls", "GETs of 1 KiB over TLS, 64 in flight", page: "1k", \.small, inFlight: 64, .tls, floors: [even]),
            load(
                "http2", "GETs of 1 KiB over HTTP/2, 64 in flight", page: "1k", \.small, inFlight: 64, .http2,
                floors: [even]),
            client, recorder, json, scaling, slow, urlSession,
        ]
    }

    // MARK: Floors

    private var singleFloors: [Floor] {
        [
            Floor(name: "median latency above that of C, in µs", bound: .atMost(40)) {
                $0.difference(.latency, of: ClientKind.operation.rawValue, to: ClientKind.limit.rawValue)
            }
        ]
    }

    private var mainFloors: [Floor] {
        [
            .ratio(.rate, of: .operation, to: .limit, .atLeast(0.5), aim: 0.65),
            .ratio(.cpu, of: .operation, to: .limit, .atMost(2.3), aim: 1.9),
            .ratio(.rate, of: .operation, to: .asyncHTTPClientOperation, .atLeast(1.2)),
            .ratio(.cpu, of: .operation, to: .asyncHTTPClientOperation, .atMost(0.75)),
            .ratio(.rate, of: .operation, to: .session, .atLeast(10)),
            Floor(name: "threads of \(ClientKind.operation.title)", bound: .atMost(6)) {
                $0.value(.threads, of: ClientKind.operation.rawValue)
            },
        ]
    }

    private var mediumFloors: [Floor] {
        [
            .ratio(.rate, of: .operation, to: .asyncHTTPClientOperation, .atLeast(1.1)),
            .ratio(.cpu, of: .operation, to: .asyncHTTPClientOperation, .atMost(0.9)),
        ]
    }

    private var even: Floor {
        .ratio(.rate, of: .operation, to: .asyncHTTPClientOperation, .atLeast(1))
    }

    // MARK: Kinds

    private func load(
        _ name: String, _ title: String, page: String, _ body: KeyPath<Nginx, BodyExpectation>, inFlight: Int,
        _ scheme: Nginx.Scheme = .plain, floors: [Floor] = []
    ) -> Benchmark {
        Benchmark(
            name: name, title: title,
            measures: (inFlight == 1 ? [.rate, .latency] : [.rate]) + [.cpu, .peak, .growth, .threads],
            isDrawn: true, floors: floors
        ) { testbed in
            // URLSession on Linux trusts the certificates of the system and no others, whatever it is told.
            let clients = Self.clients.filter { scheme == .plain || !$0.usesURLSession }
            return try clients.map { client in
                Contender(
                    name: client.rawValue, title: client.title,
                    order: .load(try order(client, page, body, inFlight, scheme, in: testbed)))
            }
        }
    }

    /// What a client does to a page.
    func order(
        _ client: ClientKind, _ page: String, _ body: KeyPath<Nginx, BodyExpectation>, _ inFlight: Int,
        _ scheme: Nginx.Scheme = .plain, in testbed: Testbed
    ) throws -> LoadOrder {
        let server = try testbed.server()
        return LoadOrder(
            client: client, url: server.url(page, scheme) + "?", body: server[keyPath: body], inFlight: inFlight,
            amount: .seconds(options.seconds), authority: scheme == .plain ? nil : server.authority.path,
            usesHTTP2: scheme == .http2)
    }

    /// What a client costs above the same request in a queue.
    private var client: Benchmark {
        Benchmark(
            name: "client-64", title: "GETs of 1 KiB by a RequestClient, 64 in flight",
            measures: [.rate, .cpu, .peak, .threads],
            floors: [
                Floor(name: "CPU µs above that in a RequestQueue", bound: .atMost(20)) {
                    $0.difference(
                        .cpu, of: ClientKind.requestClient.rawValue,
                        to: ClientKind.operationInRequestQueue.rawValue)
                }
            ]
        ) { testbed in
            try [ClientKind.limit, .operationInRequestQueue, .requestClient].map { client in
                Contender(
                    name: client.rawValue, title: client.title,
                    order: .load(try order(client, "1k", \.small, 64, in: testbed)))
            }
        }
    }

    /// What a recorder costs.
    private var recorder: Benchmark {
        Benchmark(
            name: "recorder", title: "GETs of 1 KiB, 64 in flight, without and with a TimelineRecorder", rounds: 9,
            measures: [.rate, .cpu, .peak, .threads],
            floors: [
                .ratio(.rate, of: .recordedOperation, to: .operation, .atLeast(0.9)),
                .ratio(.cpu, of: .recordedOperation, to: .operation, .atMost(1.15)),
            ]
        ) { testbed in
            try [ClientKind.operation, .recordedOperation].map { client in
                Contender(
                    name: client.rawValue, title: client.title,
                    order: .load(try order(client, "1k", \.small, 64, in: testbed)))
            }
        }
    }

    private var json: Benchmark {
        Benchmark(
            name: "json", title: "GETs of 1 MiB of JSON, decoded, 8 in flight",
            measures: [.rate, .cpu, .peak, .growth, .threads], isDrawn: true
        ) { testbed in
            let decoding = try Self.clients.filter { $0 != .limit }.map { client in
                var order = try order(client, "json", \.json, 8, in: testbed)
                order.decodesJSON = true
                return Contender(name: client.rawValue, title: client.title, order: .load(order))
            }
            // Last, since to be compared with it would tell of the decoder.
            let limit = Contender(
                name: ClientKind.limit.rawValue, title: "\(ClientKind.limit.title), not decoded",
                order: .load(try order(.limit, "json", \.json, 8, in: testbed)), isDrawn: false)
            return decoding + [limit]
        }
    }

    /// How the processor time of a request grows with their number, for us and for the C program.
    private var scaling: Benchmark {
        let growth = { (round: Round, client: ClientKind) in
            round.ratio(.cpu, of: "\(client)-256", to: "\(client)-64")
        }
        return Benchmark(
            name: "scaling", title: "GETs of 1 KiB, 256 in flight against 64", measures: [.rate, .cpu, .threads],
            hasRatios: false,
            floors: [
                Floor(name: "CPU at 256 / at 64, over that ratio of C", bound: .atMost(1.1)) { round in
                    guard let ours = growth(round, .operation), let limit = growth(round, .limit) else { return nil }
                    return ours / limit
                }
            ]
        ) { testbed in
            try [ClientKind.limit, .operation].flatMap { client in
                try [64, 256].map { inFlight in
                    Contender(
                        name: "\(client)-\(inFlight)", title: "\(client.title), \(inFlight)",
                        order: .load(try order(client, "1k", \.small, inFlight, in: testbed)))
                }
            }
        }
    }

    /// How the processor time of a request grows with the number of others that wait for a server which answers so many in a
    /// second, however many there are.
    private var slow: Benchmark {
        let counts = [16, 256]
        let name = { (client: ClientKind, inFlight: Int) in "\(client)-\(inFlight)" }
        return Benchmark(
            name: "slow", title: "GETs of 1 KiB of a server that answers \(Nginx.slowRate) in a second",
            measures: [.cpu, .rate, .threads], hasRatios: false,
            floors: [
                Floor(name: "CPU at 256 / at 16", bound: .atMost(1.2)) {
                    $0.ratio(.cpu, of: name(.operation, 256), to: name(.operation, 16))
                },
                Floor(name: "CPU at 256 / that of AsyncHTTPClient in an Operation", bound: .atMost(1)) {
                    $0.ratio(.cpu, of: name(.operation, 256), to: name(.asyncHTTPClientOperation, 256))
                },
                // Were the server not slow, nobody would wait for it.
                Floor(name: "per second of C, 256 / what the server answers", bound: .atMost(1.1)) {
                    $0.value(.rate, of: name(.limit, 256)).map { $0 / Double(Nginx.slowRate) }
                },
            ]
        ) { testbed in
            try [ClientKind.limit, .operation, .asyncHTTPClientOperation].flatMap { client in
                try counts.map { inFlight in
                    Contender(
                        name: name(client, inFlight), title: "\(client.title), \(inFlight)",
                        order: .load(try order(client, "slow/1k", \.small, inFlight, in: testbed)))
                }
            }
        }
    }

    /// What the operation costs above URLSession itself.
    private var urlSession: Benchmark {
        Benchmark(
            name: "urlsession", title: "GETs of 1 KiB over URLSession, 64 in flight", rounds: 9,
            measures: [.rate, .cpu, .peak, .threads],
            floors: [.ratio(.cpu, of: .operationOverURLSession, to: .sessionOperation, .atMost(1.2))]
        ) { testbed in
            try [ClientKind.sessionOperation, .operationOverURLSession].map { client in
                Contender(
                    name: client.rawValue, title: client.title,
                    order: .load(try order(client, "1k", \.small, 64, in: testbed)))
            }
        }
    }
}
