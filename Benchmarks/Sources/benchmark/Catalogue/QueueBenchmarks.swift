extension Catalogue {
    /// What dependencies cost.
    var queues: [Benchmark] {
        [dependent(.chain, "on the one before it"), dependent(.graph, "on three before it, at random"), blocked, held]
    }

    /// Requests that wait for a place.
    private var held: Benchmark {
        let count = options.isQuick ? 10_000 : 100_000
        return Benchmark(
            name: "queue-held", title: "\(count) requests that wait in a queue of width 1", rounds: 3,
            measures: [.bytes],
            hasRatios: false,
            floors: [
                Floor(name: "bytes of a request that waits, its operation included", bound: .atMost(2560)) {
                    $0.value(.bytes, of: "\(QueueOrder.Kind.requestQueue)")
                }
            ]
        ) { _ in
            QueueOrder.Kind.allCases.map { kind in
                Contender(
                    name: "\(kind)", title: kind.title, order: .held(HeldOrder(kind: kind, operations: count)))
            }
        }
    }

    /// Operations that depend on each other, as many of them as there may be.
    private func dependent(_ shape: QueueOrder.Shape, _ how: String) -> Benchmark {
        let sizes = options.isQuick ? [1000, 10_000] : [1000, 10_000, 100_000]
        let plainSizes = options.isQuick ? [1000] : [1000, 10_000]
        let total = options.isQuick ? 10_000 : 100_000
        let name = { (kind: QueueOrder.Kind, size: Int) in "\(kind)-\(size)" }
        let sizeIndependence = Floor(name: "largest / smallest cost of an operation", bound: .atMost(1.5)) { round in
            let rates = sizes.compactMap { round.value(.rate, of: name(.requestQueue, $0)) }
            guard let least = rates.min(), let most = rates.max() else { return nil }
            return most / least
        }
        let speed = Floor(name: "speed of 10000 / on an OperationQueue", bound: .atLeast(100)) {
            $0.ratio(.rate, of: name(.requestQueue, 10_000), to: name(.operationQueue, 10_000))
        }
        return Benchmark(
            name: "queue-\(shape)", title: "Operations of which each depends \(how)", rounds: 3,
            measures: [.rate, .cpu, .peak, .threads], hasRatios: false,
            floors: [sizeIndependence] + (shape == .chain && !options.isQuick ? [speed] : [])
        ) { _ in
            sizes.map { size in
                Contender(
                    name: name(.requestQueue, size), title: "\(QueueOrder.Kind.requestQueue.title), \(size)",
                    order: .queue(
                        QueueOrder(kind: .requestQueue, shape: shape, operations: size, batches: total / size)))
            }
                + plainSizes.map { size in
                    Contender(
                        name: name(.operationQueue, size), title: "\(QueueOrder.Kind.operationQueue.title), \(size)",
                        order: .queue(QueueOrder(kind: .operationQueue, shape: shape, operations: size)))
                }
        }
    }

    /// Operations that are ready, beside others that are not: in the same queue, or, to compare, in another.
    ///
    /// On an `OperationQueue` a tenth of the ready ones run: what one costs is the same, and all would take a minute.
    private var blocked: Benchmark {
        let (ready, blocked) = options.isQuick ? (2000, 1000) : (20_000, 10_000)
        let name = { (kind: QueueOrder.Kind, place: QueueOrder.Place) in "\(kind)-\(place)" }
        return Benchmark(
            name: "queue-blocked", title: "\(ready) ready operations and \(blocked) that are blocked", rounds: 3,
            measures: [.rate, .cpu, .threads], hasRatios: false,
            floors: [
                Floor(name: "time beside blocked ones / without them", bound: .atMost(1.3)) {
                    $0.ratio(.rate, of: name(.requestQueue, .otherQueue), to: name(.requestQueue, .sameQueue))
                }
            ]
        ) { _ in
            QueueOrder.Kind.allCases.flatMap { kind in
                QueueOrder.Place.allCases.map { place in
                    let isOurs = kind == .requestQueue
                    return Contender(
                        name: name(kind, place), title: "\(kind.title), blocked in the \(place.title) queue",
                        order: .queue(
                            QueueOrder(
                                kind: kind, shape: .ready, operations: isOurs ? ready : ready / 10, blocked: blocked,
                                place: place, batches: isOurs ? 5 : 1)))
                }
            }
        }
    }
}

extension QueueOrder.Place {
    /// The name in tables.
    fileprivate var title: String {
        switch self {
        case .otherQueue: "other"
        case .sameQueue: "same"
        }
    }
}

extension QueueOrder.Kind {
    /// The name in tables.
    fileprivate var title: String {
        switch self {
        case .requestQueue: "RequestQueue"
        case .operationQueue: "OperationQueue"
        }
    }
}
