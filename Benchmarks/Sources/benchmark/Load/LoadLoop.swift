import Foundation
import Synchronization

/// A client that makes one request at a time that it is asked for, and as many at once as it is asked for.
protocol LoadClient: LoadGenerator, Sendable {
    /// Starts a request, whose end it reports once and not before it returned.
    func start(_ request: LoadRequest)
}

extension LoadClient {
    func run(_ amount: LoadAmount, of order: LoadOrder) throws -> LoadResult {
        try LoadLoop(self, order, amount).run()
    }
}

/// Keeps a number of requests under way: each that ends starts the next.
final class LoadLoop: Sendable {
    private struct Log {
        var latencies: [Double] = []
        var failures = 0
        var failure: String?
    }

    private let client: any LoadClient
    let order: LoadOrder
    private let amount: LoadAmount
    private let start = ContinuousClock.now
    private let begun = Atomic(0)
    private let running: Atomic<Int>
    private let allEnded = DispatchSemaphore(value: 0)
    private let log = Mutex(Log())

    /// How many requests the client has at a time: an operation queue always has more than it may run.
    private var width: Int {
        switch order.client {
        case .operation, .operationOverURLSession, .sessionOperation, .asyncHTTPClientOperation:
            order.inFlight == 1 ? 1 : min(4 * order.inFlight, 1000)
        case .limit, .session, .asyncHTTPClient: order.inFlight
        }
    }

    init(_ client: any LoadClient, _ order: LoadOrder, _ amount: LoadAmount) {
        self.client = client
        self.order = order
        self.amount = amount
        running = Atomic(0)
    }

    /// Makes the requests; returns when the last has ended.
    func run() throws -> LoadResult {
        running.store(width, ordering: .relaxed)
        for _ in 0..<width { startNext() }
        allEnded.wait()
        let log = log.withLock { $0 }
        let count = begun.load(ordering: .relaxed) - width
        guard log.failures == 0 else {
            throw BenchmarkError("\(log.failures) of \(count) requests failed: \(log.failure ?? "")")
        }
        return LoadResult(requests: count, latencies: log.latencies)
    }

    private func startNext() {
        // Each of the width ends by counting one that it does not make.
        let number = begun.add(1, ordering: .relaxed).newValue
        let continues =
            switch amount {
            case .requests(let count): number <= count
            case .seconds(let seconds): start.duration(to: .now) < .seconds(seconds)
            }
        if continues {
            client.start(LoadRequest(number: number, loop: self))
        } else if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            allEnded.signal()
        }
    }

    fileprivate func end(_ request: LoadRequest, failure: String?) {
        if order.inFlight == 1 || failure != nil {
            let latency = request.start.duration(to: .now) / .seconds(1)
            log.withLock { log in
                if order.inFlight == 1 { log.latencies.append(latency) }
                if let failure {
                    log.failures += 1
                    log.failure = log.failure ?? failure
                }
            }
        }
        startNext()
    }
}

/// One request of a load.
struct LoadRequest: Sendable {
    fileprivate let start: ContinuousClock.Instant
    private let number: Int
    private let loop: LoadLoop

    fileprivate init(number: Int, loop: LoadLoop) {
        self.number = number
        self.loop = loop
        start = .now
    }

    /// Its URL, which no other has, as text.
    var address: String { loop.order.url + String(number) }

    /// Its URL, made anew.
    var url: URL {
        // The catalogue makes no other than good ones.
        URL(string: address)!
    }

    /// Whether its response has to be given as `Data`.
    var needsData: Bool { loop.order.decodesJSON }

    /// Ends the request as a success, whose value has been checked.
    func end() {
        loop.end(self, failure: nil)
    }

    /// Ends the request with its failure.
    func end(_ error: any Error) {
        loop.end(self, failure: "\(address): \(error)")
    }

    /// Ends the request with its response, which is checked, and decoded if the order says so.
    func end(status: Int, _ body: Data) {
        if loop.order.decodesJSON {
            guard (try? JSONDecoder().decode([Record].self, from: body)) == Record.all else {
                return loop.end(self, failure: "\(address): the records are not those expected")
            }
        }
        body.withUnsafeBytes { end(status: status, $0) }
    }

    /// Ends the request with its response, which is checked.
    func end(status: Int, _ body: UnsafeRawBufferPointer) {
        let isExpected = status == 200 && loop.order.body.matches(body)
        loop.end(self, failure: isExpected ? nil : "\(address): status \(status), \(body.count) bytes")
    }
}
