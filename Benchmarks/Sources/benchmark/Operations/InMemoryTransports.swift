import Foundation
import RequestOperations
import Synchronization

/// Answers every request at once, without ever suspending.
struct ImmediateTransport: Transport {
    let body: Data

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        // The benchmark makes no request without a URL.
        let head = ResponseHead(status: 200, url: task.request.url!)
        try onHead(head)
        return TransportResponse(head: head, body: body)
    }
}

/// Counts the requests that another transport has answered.
struct CountingTransport: Transport {
    let base: any Transport
    let countDown: CountDown

    func perform(
        _ task: TransportTask, onHead: @escaping @Sendable (ResponseHead) throws -> Void
    ) async throws -> TransportResponse {
        let response = try await base.perform(task, onHead: onHead)
        countDown.countOne()
        return response
    }
}

/// Wakes a waiting thread when so many have been counted, and not before: a wait for each would be measured with it.
final class CountDown: Sendable {
    private let left = Atomic(0)
    private let isDone = DispatchSemaphore(value: 0)

    /// Begins to count so many.
    func expect(_ count: Int) {
        left.store(count, ordering: .relaxed)
    }

    /// Counts one.
    func countOne() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { isDone.signal() }
    }

    /// Returns when all have been counted.
    func wait() {
        isDone.wait()
    }
}
