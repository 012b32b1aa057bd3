import Foundation
import RequestOperations

/// Notices that the time of the calendar was set back.
struct CalendarWatch {
    private var last: (date: Date, elapsed: Duration)?

    /// A smaller difference is no change: the two clocks are not read at once. In seconds.
    private static let tolerance = 1.0

    /// Returns whether less time has gone by in the calendar than on a clock that only rises.
    mutating func wasSetBack(_ date: Date, at elapsed: Duration) -> Bool {
        defer { last = (date, elapsed) }
        guard let last else { return false }
        return date.timeIntervalSince(last.date) < (elapsed - last.elapsed).inSeconds - Self.tolerance
    }
}

/// The clock of all waits of a queue, and a time that only rises.
struct WaitClock: Sendable {
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) {
        self.clock = clock
        now = Self.elapsed(on: clock)
    }

    /// The time on a clock since this was called.
    static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let beginning = clock.now
        return { beginning.duration(to: clock.now) }
    }

    /// The time since this value was made.
    var elapsed: Duration { now() }

    /// The clock itself.
    var underlying: any Clock<Duration> { clock }

    func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
