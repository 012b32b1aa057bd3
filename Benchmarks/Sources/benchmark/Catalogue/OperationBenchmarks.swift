extension Catalogue {
    /// What an operation costs, whatever their number.
    var cost: Benchmark {
        let sizes = options.isQuick ? [1000, 10_000, 100_000] : [1000, 10_000, 100_000, 1_000_000]
        let costs = sizes.map { size in
            Floor(name: "CPU µs above a bare operation, of \(size) operations", bound: .atMost(10)) {
                $0.value(.cpuAboveBare, of: "immediate-\(size)")
            }
        }
        let sizeIndependence = Floor(name: "largest / smallest of these", bound: .atMost(1.3), isOfMedians: true) {
            round in
            let values = sizes.compactMap { round.value(.cpuAboveBare, of: "immediate-\($0)") }
            guard values.count == sizes.count, let least = values.min(), let most = values.max(), least > 0 else {
                return nil
            }
            return most / least
        }
        let memory = sizes.filter { $0 >= 100_000 }.map { size in
            Floor(name: "bytes of a queued operation, of \(size)", bound: .atMost(2500)) {
                $0.value(.bytes, of: "immediate-\(size)")
            }
        }
        return Benchmark(
            name: "cost", title: "An operation with one header adapter, without a network (64 at a time)",
            measures: [.cpuAboveBare, .cpu, .bareCPU, .rate, .bytes, .peak], hasRatios: false,
            floors: costs + [sizeIndependence] + memory
        ) { _ in
            let (operations, leastBatches) = options.isQuick ? (20_000, 1) : (500_000, 2)
            let contenders = sizes.map { (CostOrder.Kind.immediate, $0) } + [(.heard, 100_000), (.scripted, 100_000)]
            return contenders.map { kind, size in
                let order = CostOrder(kind: kind, operations: size, batches: max(leastBatches, operations / size))
                return Contender(name: "\(kind)-\(size)", title: "\(kind.title), \(size)", order: .cost(order))
            }
        }
    }

    /// Whether memory comes back.
    var rounds: Benchmark {
        let count = options.isQuick ? 20_000 : 100_000
        return Benchmark(
            name: "rounds", title: "\(count) operations made, run and released, three times",
            measures: [.peakRatio, .floorRatio, .peak],
            floors: [
                Floor(name: "peak / peak of the round before", bound: .atMost(1.03)) {
                    $0.value(.peakRatio, of: "operation")
                },
                Floor(name: "floor / floor of the round before", bound: .atMost(1.03)) {
                    $0.value(.floorRatio, of: "operation")
                },
            ]
        ) { _ in
            [
                Contender(
                    name: "operation", title: ClientKind.operation.title,
                    order: .rounds(RoundsOrder(operations: count, rounds: 3)))
            ]
        }
    }

    /// Operations in backoff.
    var waiting: Benchmark {
        let count = options.isQuick ? 10_000 : 100_000
        let order = WaitingOrder(operations: count, cancelled: count / 10, spread: options.isQuick ? 3 : 30)
        let floors = [
            ("bytes of one beyond the operation", Measure.bytes, 2560.0),
            ("lateness of 99 % in ms", .latenessOfMost, 3), ("ms until a tenth has ended", .delay, 1000),
        ].map { name, measure, most in
            Floor(name: name, bound: .atMost(most)) { $0.value(measure, of: "operation") }
        }
        return Benchmark(
            name: "waiting",
            title:
                "\(count) operations in backoff in a RequestQueue; a tenth is cancelled at once (delay: until all ended)",
            rounds: 3,
            measures: [.bytes, .lateness, .latenessOfMost, .delay, .threads],
            floors: options.isQuick ? [] : floors
        ) { _ in
            [Contender(name: "operation", title: ClientKind.operation.title, order: .waiting(order))]
        }
    }
}

extension CostOrder.Kind {
    /// The name in tables.
    fileprivate var title: String {
        switch self {
        case .bare: "bare Operation"
        case .immediate: "URLRequestOperation"
        case .heard: "URLRequestOperation with onEvent"
        case .scripted: "URLRequestOperation, ScriptedTransport"
        }
    }
}
