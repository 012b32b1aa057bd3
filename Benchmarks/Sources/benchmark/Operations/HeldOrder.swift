import Foundation
import RequestOperations

/// Requests that are in a queue of width 1 and wait for a place, while the first one is in flight.
struct HeldOrder: Codable, Sendable {
    /// The queue.
    var kind: QueueOrder.Kind
    /// How many requests.
    var operations: Int

    /// Measures the memory that one of them takes, the operation included.
    func carryOut() -> Sample {
        let transport = HoldingTransport()
        var configuration = RequestConfiguration.default
        configuration.transport = transport
        // A good URL.
        let url = URL(string: "http://example.com/")!
        let queue = kind == .requestQueue ? RequestQueue() : OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(URLRequestOperation(url, configuration: configuration))
        transport.isInFlight.wait()
        let empty = ProcessStatus.residentAfterTrim
        for _ in 0..<operations { queue.addOperation(URLRequestOperation(url, configuration: configuration)) }
        let full = ProcessStatus.residentAfterTrim
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        var sample = Sample()
        sample.values[.bytes] = (full - empty) / Double(operations)
        return sample
    }
}

/// Answers nothing until it is cancelled.
private final class HoldingTransport: Transport {
    /// Signalled when a request is in flight.
    let isInFlight = DispatchSemaphore(value: 0)

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        isInFlight.signal()
        try await Task.sleep(for: .seconds(3600))
        throw CancellationError()
    }
}
