import Foundation
import RequestOperations
import Synchronization

/// Mixed traffic with faults, for a long time: resets, stalls, truncations, a server that is gone for a moment, and
/// cancels.
struct SoakOrder: Codable, Sendable {
    /// The server, which answers as it likes.
    var url: String
    /// How long.
    var minutes: Double

    /// How many operations are in the queue at a time.
    private static let width = 64
    /// One of so many operations is cancelled.
    private static let cancelShare = 20
    /// How often the size of the process is taken.
    private static let interval = 1.0
    /// How long the last operations may take, all attempts included.
    private static let grace = 60.0

    /// Makes operations until the time is over, and compares the process with what it was.
    func carryOut() throws -> Sample {
        // The libraries open what they keep open for good with the first request of a transport.
        try request(over: CurlTransport(), untilEnded: 20)
        let descriptors = try ProcessStatus.openDescriptors()
        let transport = CurlTransport()
        let traffic = SoakTraffic(url: url, transport: transport, cancelShare: Self.cancelShare)
        let before = Usage()
        let rest = ProcessStatus.residentAfterTrim
        traffic.begin(Self.width)
        let sizes = watch()
        let lost = traffic.end(within: Self.grace)
        let seconds = Usage().seconds(since: before)
        // Cancelled operations do not wait for their transfers: one that hangs shows here.
        try wait(of: "\(lost) operations are lost of \(traffic.counts)") { await transport.shutdown(.draining) }
        var sample = Sample()
        sample.values[.rate] = Double(traffic.counts.ended) / seconds
        sample.values[.lost] = Double(lost)
        sample.values[.floorRatio] = growth(sizes)
        sample.values[.growth] = ((sizes.last ?? .nan) - rest) / 1e6
        sample.values[.descriptors] = Double(try ProcessStatus.openDescriptors() - descriptors)
        sample.remarks = [
            traffic.counts.description,
            "MB: "
                + stride(from: 0, to: sizes.count, by: max(1, sizes.count / 20))
                .map { (sizes[$0] / 1e6).text(1) }.joined(separator: " "),
        ]
        return sample
    }

    private func request(over transport: CurlTransport, untilEnded count: Int) throws {
        let traffic = SoakTraffic(url: url, transport: transport, cancelShare: Self.cancelShare)
        traffic.begin(count)
        guard traffic.end(within: Self.grace) == 0 else { throw BenchmarkError("the first requests did not end") }
        try wait(of: "the first") { await transport.shutdown(.draining) }
    }

    /// The sizes of the process while the time runs.
    private func watch() -> [Double] {
        var sizes: [Double] = []
        let end = ContinuousClock.now + .seconds(60 * minutes)
        while ContinuousClock.now < end {
            Thread.sleep(forTimeInterval: Self.interval)
            sizes.append(ProcessStatus.residentAfterTrim)
        }
        return sizes
    }

    /// The last fifth over the second one; the first is the warm-up.
    private func growth(_ sizes: [Double]) -> Double? {
        let fifth = sizes.count / 5
        guard fifth > 0 else { return nil }
        let late = sizes.suffix(fifth).reduce(0, +)
        return late / sizes[fifth..<2 * fifth].reduce(0, +)
    }

    private func wait(of what: String, for body: @escaping @Sendable () async -> Void) throws {
        let isDone = DispatchSemaphore(value: 0)
        Task {
            await body()
            isDone.signal()
        }
        guard isDone.wait(timeout: .now() + Self.grace) == .success else {
            throw BenchmarkError("some transfers have not ended: \(what)")
        }
    }
}

/// Operations of which each that ends makes the next.
private final class SoakTraffic: Sendable {
    private let url: String
    private let cancelShare: Int
    private let configuration: RequestConfiguration
    private let queue = OperationQueue()
    private let state = Mutex(SoakCounts())
    private let isQuiet = DispatchSemaphore(value: 0)

    init(url: String, transport: any Transport, cancelShare: Int) {
        self.url = url
        self.cancelShare = cancelShare
        var configuration = RequestConfiguration.default
        configuration.transport = transport
        // A stall and a backoff that let much happen in a minute.
        configuration.idleTimeLimit = .milliseconds(500)
        configuration.retryPolicy.backoff = .exponential(initial: .milliseconds(50))
        // The server fails on purpose, more often than a budget allows.
        configuration.retryPolicy.budget = nil
        self.configuration = configuration
    }

    /// What has happened so far.
    var counts: SoakCounts { state.withLock { $0 } }

    /// Starts so many operations at once.
    func begin(_ width: Int) {
        for _ in 0..<width { startNext() }
    }

    /// Starts no more; returns how many had not ended once, exactly, after so many seconds.
    func end(within seconds: Double) -> Int {
        let isQuietAlready = state.withLock { state in
            state.isEnding = true
            return state.running == 0
        }
        if !isQuietAlready { _ = isQuiet.wait(timeout: .now() + seconds) }
        // An operation that ended twice would show now.
        Thread.sleep(forTimeInterval: 0.2)
        return abs(counts.running) + counts.endedTwice
    }

    private func startNext() {
        let number = state.withLock { state -> Int? in
            guard !state.isEnding else { return nil }
            state.begun += 1
            return state.begun
        }
        guard let number else { return }
        // A good URL.
        let operation = URLRequestOperation(
            URLRequest(url: URL(string: "\(url)?\(number)")!), configuration: configuration)
        let flag = EndFlag()
        operation.whenFinished { [self] in ended($0, for: flag) }
        queue.addOperation(operation)
        guard number % cancelShare == 0 else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .random(in: 0...0.01)) { operation.cancel() }
    }

    private func ended(_ result: Result<Data, any Error>, for flag: EndFlag) {
        let isQuietNow = state.withLock { state in
            guard flag.raise() else {
                state.endedTwice += 1
                return false
            }
            state.count(result)
            return state.isEnding && state.running == 0
        }
        if isQuietNow { isQuiet.signal() } else { startNext() }
    }
}

/// Whether one operation has ended.
private final class EndFlag: Sendable {
    private let isRaised = Atomic(false)

    /// Raises it; false if it is up already.
    func raise() -> Bool { !isRaised.exchange(true, ordering: .relaxed) }
}

/// What has happened in a soak.
private struct SoakCounts: CustomStringConvertible {
    var begun = 0
    var succeeded = 0
    var failed = 0
    var cancelled = 0
    var endedTwice = 0
    var isEnding = false

    var ended: Int { succeeded + failed + cancelled }
    var running: Int { begun - ended }

    mutating func count(_ result: Result<Data, any Error>) {
        switch result {
        case .success: succeeded += 1
        case .failure(let error) where error is CancellationError: cancelled += 1
        case .failure: failed += 1
        }
    }

    var description: String { "\(begun) begun, \(succeeded) succeeded, \(failed) failed, \(cancelled) cancelled" }
}
