import Foundation
import RequestOperations

/// Asks the system not to suspend the process while the queue holds a lock. Does nothing where apps are not suspended.
///
/// iOS ends a process that it suspends with a file lock in a shared container. This part has not been run on Apple's
/// platforms.
final class BackgroundActivity: Sendable {
    #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        private let ending = Locked<DispatchSemaphore?>(nil)

        /// Begins an activity, unless one is under way.
        ///
        /// - Parameter expire: Called when the system will not wait any longer. It must free all locks soon.
        func begin(_ expire: @escaping @Sendable () -> Void) {
            let end = DispatchSemaphore(value: 0)
            let isFirst = ending.withLock { current in
                guard current == nil else { return false }
                current = end
                return true
            }
            guard isFirst else { return }
            ProcessInfo.processInfo.performExpiringActivity(withReason: "Requests are delivered.") { isExpired in
                if isExpired { expire() } else { end.wait() }
            }
        }

        /// Ends the activity.
        func end() {
            let end = ending.withLock { current in
                defer { current = nil }
                return current
            }
            end?.signal()
        }
    #else
        /// Does nothing.
        func begin(_ expire: @escaping @Sendable () -> Void) {}

        /// Does nothing.
        func end() {}
    #endif

    /// Runs a transaction, which must not be open when the process is suspended.
    static func during<Result>(_ transaction: () throws -> Result) rethrows -> Result {
        let activity = BackgroundActivity()
        activity.begin {}
        defer { activity.end() }
        return try transaction()
    }
}
