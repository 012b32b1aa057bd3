import Foundation
import Synchronization

/// A client that makes one request at a time that it is asked for, and as many at once as it is asked for.
protocol LoadClient: LoadGenerator, Sendable {
    /// Starts requests, the end of each of which it reports once, on any thread.
    func start(_ requests: [LoadRequest])
    /// Returns when all that belongs to the requests that have ended is over.
    func settle()
}

extension LoadClient {
    func settle() {}

    func run(_ amount: LoadAmount, of order: LoadOrder) throws -> LoadResult {
        try LoadLoop(self, order, amount).run()
    }
}

/// Keeps a number of requests under way.
///
/// Each that ends starts the next. An operation queue, which is to have more than it may run, is fed by the thread that waits
/// for the end, some operations at a time, as by a program with a list of requests.
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
    /// How many requests a queue is fed with at a time; `nil` if each that ends starts the next.
    private let portion: Int?
    private let begun = Atomic(0)
    private let ended = Atomic(0)
    /// The requests under way, and the thread that may still begin some.
    private let running = Atomic(1)
    private let hasRoom = DispatchSemaphore(value: 0)
    private let allEnded = DispatchSemaphore(value: 0)
    private let log = Mutex(Log())

    init(_ client: any LoadClient, _ order: LoadOrder, _ amount: LoadAmount) {
        self.client = client
        self.order = order
        self.amount = amount
        // Two portions at first: the queue is fed when it has one left.
        portion = order.client.usesQueue && order.inFlight > 1 ? min(2 * order.inFlight, 500) : nil
    }

    /// Makes the requests; returns when the last has ended.
    func run() throws -> LoadResult {
        if let portion { try feed(portion) } else { startNext(order.inFlight) }
        countEnd()
        try wait(for: allEnded)
        client.settle()
        let log = log.withLock { $0 }
        let count = ended.load(ordering: .relaxed)
        guard log.failures == 0 else {
            throw BenchmarkError("\(log.failures) of \(count) requests failed: \(log.failure ?? "")")
        }
        return LoadResult(requests: count, latencies: log.latencies)
    }

    private func feed(_ portion: Int) throws {
        startNext(portion)
        while startNext(portion) { try wait(for: hasRoom) }
    }

    /// Waits for the end of requests, none of which takes so long.
    private func wait(for semaphore: DispatchSemaphore) throws {
        guard semaphore.wait(timeout: .now() + .seconds(180)) == .success else {
            throw BenchmarkError("there are requests that never end: \(log.withLock { $0.failure } ?? "none failed")")
        }
    }

    /// Starts some more requests; whether others may follow.
    @discardableResult
    private func startNext(_ count: Int) -> Bool {
        var requests: [LoadRequest] = []
        requests.reserveCapacity(count)
        while requests.count < count, let number = takeNumber() {
            requests.append(LoadRequest(number: number, loop: self))
        }
        if !requests.isEmpty { client.start(requests) }
        return requests.count == count
    }

    /// The number of the next request; `nil` if it is not to be made.
    private func takeNumber() -> Int? {
        let number = begun.add(1, ordering: .relaxed).newValue
        let isWanted =
            switch amount {
            case .requests(let count): number <= count
            case .seconds(let seconds): start.duration(to: .now) < .seconds(seconds)
            }
        guard isWanted else { return nil }
        running.add(1, ordering: .relaxed)
        return number
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
        let ended = ended.add(1, ordering: .relaxed).newValue
        if let portion {
            if ended.isMultiple(of: portion) { hasRoom.signal() }
        } else {
            startNext(1)
        }
        countEnd()
    }

    private func countEnd() {
        if running.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { allEnded.signal() }
    }
}

/// One request of a load.
struct LoadRequest: Sendable {
    fileprivate let start: ContinuousClock.Instant
    let number: Int
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

    /// Whether the time until its end counts.
    var isTimed: Bool { loop.order.inFlight == 1 }

    /// The major version of HTTP by which its response has to come.
    var majorVersion: Int { loop.order.usesHTTP2 ? 2 : 1 }

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
        guard !loop.order.decodesJSON else {
            let isExpected = status == 200 && (try? JSONDecoder().decode([Record].self, from: body)) == Record.all
            return loop.end(self, failure: isExpected ? nil : "\(address): the records are not those expected")
        }
        body.withUnsafeBytes { end(status: status, $0) }
    }

    /// Ends the request with its response, which is checked.
    func end(status: Int, _ body: UnsafeRawBufferPointer) {
        let isExpected = status == 200 && loop.order.body.matches(body)
        loop.end(self, failure: isExpected ? nil : "\(address): status \(status), \(body.count) bytes")
    }
}
