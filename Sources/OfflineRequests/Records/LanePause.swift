public import Foundation

/// When the queue pauses a lane by itself, since its receiver wants no more or fails for too long.
///
/// It pauses only lanes with a name. The lane that all records without a lane share goes on.
/// ``OfflineRequestQueue/resume(lane:)`` lets a lane go on.
public struct LanePausePolicy: Sendable, Hashable {
    /// The statuses that pause a lane when they make one of its records a dead letter. 410, *Gone*, by default.
    ///
    /// [Standard Webhooks](https://www.standardwebhooks.com) has receivers answer 410 to end a subscription.
    public var statuses: Set<Int>
    /// How long a lane may fail. The time begins with the first failed delivery, and ends with a successful one. A failed
    /// delivery after this time pauses the lane. Five days by default; `nil` means that no lane fails for too long.
    ///
    /// The time counts whether or not the lane has records. It begins anew when the lane is resumed.
    public var failingFor: Duration?

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - statuses: The statuses that pause a lane. 410 by default.
    ///   - failingFor: How long a lane may fail. Five days by default; `nil` means without limit.
    public init(statuses: Set<Int> = [410], failingFor: Duration? = .seconds(5 * 86_400)) {
        self.statuses = statuses
        self.failingFor = failingFor
    }
}

/// Why a lane is paused.
public enum LanePauseReason: Codable, Sendable, Hashable, CustomStringConvertible {
    /// The program called ``OfflineRequestQueue/pause(lane:)``.
    case requested
    /// The receiver answered with a status of ``LanePausePolicy/statuses``.
    case status(Int)
    /// Deliveries have failed since a date, which is longer than ``LanePausePolicy/failingFor``.
    case failing(since: Date)

    /// The reason in a few words.
    public var description: String {
        switch self {
        case .requested: "requested"
        case .status(let status): "status \(status)"
        case .failing(let date): "failing since \(date.formatted(.iso8601))"
        }
    }
}

/// A lane that is paused.
public struct PausedLane: Sendable, Hashable {
    /// The lane; `nil` for the one that all records without a lane share.
    public let lane: String?
    /// Why it is paused.
    public let reason: LanePauseReason
    /// When it was paused.
    public let since: Date

    /// Makes a value. An empty name means the lane of the records without one.
    package init(lane: String, reason: LanePauseReason, since: Date) {
        self.lane = lane.isEmpty ? nil : lane
        self.reason = reason
        self.since = since
    }
}
