@testable import RequestOperations

/// Tests of a window of ten seconds, with the defaults of a budget.
protocol WindowTests {}

extension WindowTests {
    static var second: Int64 { 1_000_000_000 }

    static func window(ratio: Double = 0.2, reserve: Double = 100) -> RetryWindow {
        RetryWindow(RetryWindow.Terms(ratio: ratio, reserve: reserve, window: 10 * second))
    }

    /// How many retries are granted at once, of so many at most.
    static func granted(_ window: inout RetryWindow, at now: Int64, of most: Int = 10_000) -> Int {
        var count = 0
        while count < most, window.withdraw(at: now, postponingUntil: nil) == .granted { count += 1 }
        return count
    }

    /// When those of some retries are that were postponed.
    static func postponed(_ window: inout RetryWindow, at now: Int64, until limit: Int64, _ count: Int) -> [Int64] {
        (0..<count).compactMap { _ in
            if case .postponed(let moment) = window.withdraw(at: now, postponingUntil: limit) { moment } else { nil }
        }
    }
}
