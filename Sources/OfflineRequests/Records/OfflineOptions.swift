public import Foundation
public import RequestOperations

/// How a record is queued and delivered.
public struct OfflineOptions: Sendable {
    /// The lane. `nil` by default: the lane that all records without a lane share.
    ///
    /// The records of a lane are delivered one after the other, in the order of adding. The next one begins when the
    /// outcome of the one before is known. Lanes do not wait for each other, apart from a place among
    /// ``OfflineConfiguration/width``. A record that waits for its earliest time also holds up its lane.
    public var lane: String?
    /// A tag, for filters. `nil` by default.
    public var tag: String?
    /// The priority. The lane whose first record has the highest priority goes first. 0 by default.
    public var priority: Int = 0
    /// The earliest time of the first delivery. `nil`, at once, by default. A date beyond the year 9999 counts as the end
    /// of that year. A date that is not a number counts as `nil`.
    public var notBefore: Date?
    /// When the record becomes a dead letter if it was not delivered. `nil`, never, by default. A queue that is paused, or
    /// whose places are all taken, notices that later. The rules of ``notBefore`` for dates beyond the year 9999 hold here
    /// too.
    public var expires: Date?
    /// What must hold before each delivery begins. ``OfflineConstraint/reachable`` by default.
    public var constraints: Set<OfflineConstraint> = [.reachable]
    /// Whether credentials in the fields and the user part of the URL of a request are stored. `false` by default. A
    /// token in the query of a URL is stored in any case.
    ///
    /// With `false` they are left out, and ``OfflineEvent/credentialsOmitted(_:fields:)`` reports it. Let an adapter of
    /// ``OfflineConfiguration/request`` add them when the request is sent.
    public var storesCredentials = false
    /// Encoded information that is kept with the record. `nil` by default.
    public var userInfo: Data?

    /// Makes options with the defaults given at each property.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - tag: The tag.
    ///   - priority: The priority.
    ///   - notBefore: The earliest time.
    ///   - expires: When the record expires.
    public init(
        lane: String? = nil, tag: String? = nil, priority: Int = 0, notBefore: Date? = nil, expires: Date? = nil
    ) {
        self.lane = lane
        self.tag = tag
        self.priority = priority
        self.notBefore = notBefore
        self.expires = expires
    }

    /// Encodes information that is kept with the record (``OfflineRecord/userInfo(as:)``).
    ///
    /// - Throws: The error of the encoder.
    public mutating func setUserInfo(_ value: some Encodable) throws {
        userInfo = try JSONEncoder().encode(value)
    }
}

extension OfflineOptions: CustomStringConvertible, OpaqueReflectable {
    /// The priority, the constraints, the times, and whether there is user info, which is not shown.
    public var description: String {
        let parts = [
            "priority \(priority)", "constraints: \(constraints.map(\.name).sorted())",
            notBefore.map { "not before \($0)" }, expires.map { "expires \($0)" },
            storesCredentials ? "stores credentials" : nil, userInfo == nil ? nil : "user info",
        ]
        return parts.compactMap(\.self).joined(separator: ", ")
    }
}
