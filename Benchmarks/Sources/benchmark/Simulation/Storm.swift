import Foundation
import RequestOperations
import RequestOperationsTesting

/// Processes that make requests of one server, which fails for a while, in virtual time: a loop over events.
///
/// The clock is the library's `ManualClock`, moved from event to event; the same order gives the same numbers.
struct Storm {
    /// A process of a client.
    private final class Process {
        let policy: StormPolicy
        /// How many more operations can run.
        var freePlaces: Int
        /// When those were made that wait for a place.
        var line: ArraySlice<Int64> = []

        init(_ policy: StormPolicy, places: Int) {
            self.policy = policy
            freePlaces = places
        }
    }

    /// An operation that has a place.
    private struct Running {
        let process: Process
        /// When it was made.
        let since: Int64
        /// The number of its last attempt.
        var attempt = 1
    }

    private enum Event {
        /// A process starts, from then on to make requests.
        case starts
        /// A process is asked for a request; `nil` is a new one for each.
        case makes(Process?)
        /// The wait before an attempt is over.
        case isDue(Running)
        /// The server has answered.
        case answers(Running, fails: Bool)
    }

    private let order: SimulationOrder
    private let clock = ManualClock()
    /// Of the requests and the answers.
    private let chance: RandomSource
    /// Of the jitter.
    private let jitter: RandomSource
    private var events = EventHeap<Event>()
    private var now: Int64 = 0
    private var traffic: StormTraffic

    /// Makes one that has not begun.
    init(_ order: SimulationOrder) {
        self.order = order
        chance = RandomSource(seed: order.seed)
        jitter = RandomSource(seed: order.seed &+ 1)
        traffic = StormTraffic(seconds: order.end)
    }

    /// Runs it to its end, once.
    mutating func run() -> StormTraffic {
        if order.isOneRequestEach {
            events.add(.makes(nil), at: 0)
        } else {
            for _ in 0..<order.processes { events.add(.starts, at: seconds(chance.next() * SimulationOrder.start)) }
        }
        while let (time, event) = events.next(before: seconds(order.end)) {
            clock.advance(by: .nanoseconds(time - now))
            now = time
            switch event {
            case .starts: events.add(.makes(newProcess()), at: now)
            case .makes(let process): make(by: process)
            case .isDue(let operation):
                if operation.process.policy.drawsRetry() {
                    send(operation)
                } else {
                    end(operation, successfully: false)
                }
            case .answers(let operation, fails: false): end(operation, successfully: true)
            case .answers(let operation, fails: true): retry(operation)
            }
        }
        return traffic
    }

    private func newProcess() -> Process {
        Process(StormPolicy(order.policy, clock: clock, random: jitter), places: order.places)
    }

    private mutating func make(by process: Process?) {
        // Requests come independently of each other.
        let rate = order.rate * (process == nil ? Double(order.processes) : 1)
        events.add(.makes(process), at: now + seconds(-log(1 - chance.next()) / rate))
        traffic.countMade(at: now)
        let process = process ?? newProcess()
        if process.freePlaces > 0 {
            process.freePlaces -= 1
            begin(Running(process: process, since: now))
        } else {
            process.line.append(now)
        }
    }

    private mutating func begin(_ operation: Running) {
        operation.process.policy.countRequest()
        send(operation)
    }

    private mutating func send(_ operation: Running) {
        traffic.countReceived(at: now)
        let answer = now + seconds(SimulationOrder.answer.lowerBound + chance.next() * SimulationOrder.answerSpread)
        events.add(.answers(operation, fails: order.fails(at: Double(now) / 1e9)), at: answer)
    }

    private mutating func retry(_ operation: Running) {
        let delay = operation.process.policy.delay(after: operation.attempt, elapsed: now - operation.since)
        guard let delay else { return end(operation, successfully: false) }
        var next = operation
        next.attempt += 1
        events.add(.isDue(next), at: now + seconds(delay))
    }

    private mutating func end(_ operation: Running, successfully: Bool) {
        if Double(operation.since) / 1e9 < order.recovery { traffic.countEnded(successfully: successfully) }
        let process = operation.process
        if let first = process.line.popFirst() {
            begin(Running(process: process, since: first))
        } else {
            process.freePlaces += 1
        }
    }

    private func seconds(_ seconds: Double) -> Int64 {
        Int64((seconds * 1e9).rounded())
    }
}
