import Foundation

/// How long the stress tests last: shortened, unless `REQUEST_OPERATIONS_STRESS=full` asks for all; a number in its place
/// makes those that last for a time last for so many seconds.
enum Stress {
    private static let choice = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"]

    static let isFull = choice == "full"

    /// Whether nothing was asked for, as in a run of the whole suite.
    static let isShortened = choice == nil

    /// Whether the test library keeps nothing of the errors that are thrown, as `.ci/stress` tells it. What it keeps of each,
    /// some 200 bytes until the test ends, would count as memory of the code under test.
    static let keepsNoErrors = ProcessInfo.processInfo.environment["SWT_SWIFT_ERROR_BACKTRACING_ENABLED"] == "0"

    /// Whether the C library takes all memory from one arena, as `.ci/stress` tells it. The threads of the test server, one for
    /// each connection, would have some of their own, of which what is free would count as well.
    static let hasOneArena = ProcessInfo.processInfo.environment["MALLOC_ARENA_MAX"] == "1"

    /// Whether this runs under ThreadSanitizer, as `.ci/stress` tells it: all code takes several times as long then.
    static let isSanitized = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

    static func rounds(_ full: Int, shortened: Int) -> Int {
        isFull ? full : shortened
    }

    static func duration(_ full: Duration, shortened: Duration) -> Duration {
        isFull ? full : choice.flatMap { Int($0) }.map { .seconds($0) } ?? shortened
    }
}
