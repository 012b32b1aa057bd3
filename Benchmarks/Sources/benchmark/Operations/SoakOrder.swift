import Foundation
import RequestOperations

/// Mixed traffic with faults, for a long time: resets, stalls, truncations, a server that is gone for a moment, and
/// cancels, over every way to the server.
struct SoakOrder: Codable, Sendable {
    /// The ways to the server, which answers as it likes; they have equal shares.
    var sites: [SoakSite]
    /// The PEM file of the certificate that is trusted.
    var authority: String
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
        try request(over: makeTransport(), untilEnded: 60)
        let descriptors = try ProcessStatus.openDescriptors()
        let transport = makeTransport()
        let traffic = SoakTraffic(sites, over: transport, cancelShare: Self.cancelShare)
        let before = Usage()
        let rest = ProcessStatus.residentAfterTrim
        traffic.begin(Self.width)
        let sizes = watch()
        let lost = traffic.end(within: Self.grace)
        let seconds = Usage().seconds(since: before)
        // Cancelled operations do not wait for their transfers: one that hangs shows here.
        try wait(of: "\(lost) operations are lost of \(traffic.counts.lines)") {
            await transport.shutdown(draining: true)
        }
        try traffic.counts.check()
        var sample = Sample()
        sample.values[.rate] = Double(traffic.counts.ended) / seconds
        sample.values[.lost] = Double(lost)
        sample.values[.floorRatio] = growth(sizes)
        sample.values[.growth] = ((sizes.last ?? .nan) - rest) / 1e6
        sample.values[.descriptors] = Double(try ProcessStatus.openDescriptors() - descriptors)
        let course = stride(from: 0, to: sizes.count, by: max(1, sizes.count / 20)).map { (sizes[$0] / 1e6).text(1) }
        sample.remarks = traffic.counts.lines + ["MB: " + course.joined(separator: " ")]
        return sample
    }

    private func makeTransport() -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        // Over libcurl before 8.1, HTTP/2 has to be asked for.
        configuration.httpVersions = .http2
        configuration.trust.roots = .file(URL(fileURLWithPath: authority))
        return CurlTransport(configuration: configuration)
    }

    private func request(over transport: CurlTransport, untilEnded count: Int) throws {
        let traffic = SoakTraffic(sites, over: transport, cancelShare: Self.cancelShare)
        traffic.begin(count)
        guard traffic.end(within: Self.grace) == 0 else { throw BenchmarkError("the first requests did not end") }
        try wait(of: "the first") { await transport.shutdown(draining: true) }
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

/// A way to the server.
struct SoakSite: Codable, Sendable {
    let scheme: Nginx.Scheme
    /// The URL, to which each request adds a query of its own.
    let url: String
}
