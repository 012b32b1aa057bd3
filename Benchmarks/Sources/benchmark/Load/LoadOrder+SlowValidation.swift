import Foundation
import RequestOperations
import Synchronization

extension LoadOrder {
    /// How often a volley with a slow validation is compared with one without.
    private static let volleys = 15

    /// Measures how much later the last of all other requests ends when the validation of one sleeps.
    func measureSlowValidation() throws -> Sample {
        let volley = Volley(count: inFlight, url: url, configuration: client.configuration(trusting: authority))
        for _ in 0..<3 { _ = try volley.run(isSlow: false) }
        var slow: [Double] = []
        var usual: [Double] = []
        for _ in 0..<Self.volleys {
            usual.append(try volley.run(isSlow: false))
            slow.append(try volley.run(isSlow: true))
        }
        var sample = Sample()
        sample.values[.delay] = (slow.sorted().quantile(0.5) - usual.sorted().quantile(0.5)) * 1e3
        sample.remarks = [
            "without: \(usual.sorted().map { ($0 * 1e3).text(1) }.joined(separator: " ")) ms, "
                + "with: \(slow.sorted().map { ($0 * 1e3).text(1) }.joined(separator: " ")) ms"
        ]
        return sample
    }
}

/// Requests that are started at the same time.
private struct Volley {
    let count: Int
    let url: String
    let configuration: RequestConfiguration

    /// Starts them; the seconds until all but the first have ended, whose validation may be slow.
    func run(isSlow: Bool) throws -> Double {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = count
        let othersEnded = CountDown()
        othersEnded.expect(count - 1)
        let operations = (0..<count).map { number in
            // The catalogue makes no other than good URLs.
            ValidatingOperation(
                URLRequest(url: URL(string: url + String(number))!), configuration: configuration,
                isSlow: isSlow && number == 0)
        }
        for operation in operations.dropFirst() { operation.whenFinished { _ in othersEnded.countOne() } }
        let start = ContinuousClock.now
        for operation in operations { queue.addOperation(operation) }
        othersEnded.wait()
        let seconds = start.duration(to: .now) / .seconds(1)
        queue.waitUntilAllOperationsAreFinished()
        for operation in operations { _ = try operation.result?.get() }
        return seconds
    }
}

/// An operation whose validation may take 100 ms.
// Unchecked as its superclass is: its own state never changes.
private final class ValidatingOperation: URLRequestOperation<Data>, @unchecked Sendable {
    private let isSlow: Bool

    init(_ request: URLRequest, configuration: RequestConfiguration, isSlow: Bool) {
        self.isSlow = isSlow
        super.init(request, decoder: .data, configuration: configuration)
    }

    override func validate(_ head: ResponseHead) throws {
        if isSlow { Thread.sleep(forTimeInterval: 0.1) }
        try super.validate(head)
    }
}
