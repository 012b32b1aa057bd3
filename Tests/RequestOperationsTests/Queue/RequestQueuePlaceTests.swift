import RequestOperationsTesting
import Testing

@testable import RequestOperations

/// At which place of a limiter's line a queue waits.
@Suite(.timeLimit(.minutes(15))) struct RequestQueuePlaceTests {
    @Test func theQueueWaitsAtThePlaceOfItsFirstWhoeverComesAtTheSameTime() async throws {
        for _ in 0..<300 {
            let queue = RequestQueue(clock: ManualClock())
            queue.maxConcurrentOperationCount = 0
            let order = Collector<String>()
            let (low, high) = (Work { order.append("low") }, Work { order.append("high") })
            low.queuePriority = .veryLow
            high.queuePriority = .veryHigh
            DispatchQueue.concurrentPerform(iterations: 2) { queue.addOperation($0 == 0 ? low : high) }
            let probe = Task {
                var place: RequestLimiter.Place?
                let slot = try await queue.limiter.slot(for: Origin(nil), priority: .normal, place: &place)
                order.append("other")
                slot.release()
            }
            await eventually { queue.limiter.waitingCount == 2 }
            queue.maxConcurrentOperationCount = 1
            try await probe.value
            _ = try await (low.value, high.value)
            #expect(order.elements == ["high", "other", "low"])
        }
    }
}
