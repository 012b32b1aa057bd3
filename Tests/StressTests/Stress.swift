import Foundation

/// How long the stress tests last: shortened, unless `REQUEST_OPERATIONS_STRESS=full` asks for all.
enum Stress {
    static let isFull = ProcessInfo.processInfo.environment["REQUEST_OPERATIONS_STRESS"] == "full"

    static func rounds(_ full: Int, shortened: Int) -> Int {
        isFull ? full : shortened
    }
}
