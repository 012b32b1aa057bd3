extension Catalogue {
    /// What a server has to bear while it fails and after that.
    var simulation: Benchmark {
        let processes = options.isQuick ? 10 : 100
        let contenders: [(name: String, title: String, kind: StormPolicy.Kind, isOneRequestEach: Bool)] = [
            ("ours", "RequestOperations", .ours, false), ("endless", "endless", .endless, false),
            ("alamofire", "Alamofire", .alamofire, false),
            ("ours-one-each", "RequestOperations, one each", .ours, true),
        ]
        return Benchmark(
            name: "simulation",
            title: "\(processes) processes with 200 new requests/s each; their server fails for \(Self.outage) s",
            rounds: 1, measures: Self.measures, hasRatios: false, floors: Self.floors(of: "ours"),
            curveFrame: CurveFrame(
                unit: "requests/s at the server", start: -Int(SimulationOrder.lead), band: 0..<Self.outage,
                bandTitle: "the server fails")
        ) { _ in
            contenders.map { contender in
                Contender(
                    name: contender.name, title: contender.title,
                    order: .simulation(
                        SimulationOrder(
                            policy: contender.kind, processes: processes, rate: 200, places: 1000,
                            outage: Double(Self.outage), isOneRequestEach: contender.isOneRequestEach)))
            }
        }
    }

    /// Our policy once more, with a server that recovers at each second of a budget's window: none of them is one at which
    /// the budget has just given out what it had.
    var outages: Benchmark {
        let processes = options.isQuick ? 10 : 100
        let lengths = options.isQuick ? [Self.outage] : Array(Self.outage - 5...Self.outage + 5)
        return Benchmark(
            name: "outages",
            title: "\(processes) processes with 200 new requests/s each; their server fails for so many seconds",
            rounds: 1, measures: Self.measures, hasRatios: false,
            floors: lengths.flatMap { Self.floors(of: "\($0) s", named: ", \($0) s") }
        ) { _ in
            lengths.map { length in
                Contender(
                    name: "\(length) s", title: "\(length) s",
                    order: .simulation(
                        SimulationOrder(
                            policy: .ours, processes: processes, rate: 200, places: 1000, outage: Double(length))))
            }
        }
    }

    /// What a table of simulations shows.
    private static var measures: [Measure] { [.amplification, .outagePeak, .recoveryPeak, .failed, .unanswered] }

    /// What a server may have to bear of a contender at most.
    private static func floors(of contender: String, named suffix: String = "") -> [Floor] {
        [
            ("requests at the failing server for each new one", Measure.amplification, 1.3),
            ("most a second after the recovery / steady rate", .recoveryPeak, 1.5),
        ].map { name, measure, most in
            Floor(name: name + suffix, bound: .atMost(most)) { $0.value(measure, of: contender) }
        }
    }

    /// For how many seconds the server of the simulation fails.
    private static var outage: Int { 60 }
}
