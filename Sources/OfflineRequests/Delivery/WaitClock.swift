import Foundation
import RequestOperations

/// The clock of all waits of a queue, and a time that only rises.
struct WaitClock: Sendable {
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Duration

    init(_ clock: any Clock<Duration>) {
        self.clock = clock
        now = Self.elapsed(on: clock)
    }

    private static func elapsed<C: Clock<Duration>>(on clock: C) -> @Sendable () -> Duration {
        let beginning = clock.now
        return { beginning.duration(to: clock.now) }
    }

    /// The time since this value was made.
    var elapsed: Duration { now() }

    /// The clock itself.
    var underlying: any Clock<Duration> { clock }

    func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }
}
