package import Foundation
package import RequestOperations

/// A record as a store keeps it.
package struct StoredRecord: Sendable {
    package let id: OfflineRecord.ID
    package let state: OfflineRecord.State
    package let content: StoredContent
    /// The body of a request or the payload of a message. Empty in pages of records.
    package let body: StoredBody
    package let lane: String
    package let tag: String?
    package let uniqueKey: String?
    package let priority: Int
    package let added: Date
    package let expires: Date?
    package let attempts: Int
    package let refusals: Int
    package let lastFailure: String?
    package let bodySize: Int64
    /// The checksum of what does not change while the record waits. A merge changes it.
    package let checksum: UInt64

    package init(
        id: OfflineRecord.ID, state: OfflineRecord.State, content: StoredContent, body: StoredBody, lane: String,
        tag: String? = nil, uniqueKey: String? = nil, priority: Int, added: Date, expires: Date? = nil, attempts: Int,
        refusals: Int, lastFailure: String? = nil, bodySize: Int64, checksum: UInt64
    ) {
        self.id = id
        self.state = state
        self.content = content
        self.body = body
        self.lane = lane
        self.tag = tag
        self.uniqueKey = uniqueKey
        self.priority = priority
        self.added = added
        self.expires = expires
        self.attempts = attempts
        self.refusals = refusals
        self.lastFailure = lastFailure
        self.bodySize = bodySize
        self.checksum = checksum
    }

    /// The record as the program sees it.
    package var snapshot: OfflineRecord {
        OfflineRecord(
            id: id, state: state, content: content.shown, lane: lane.isEmpty ? nil : lane, tag: tag,
            uniqueKey: uniqueKey, priority: priority, added: added, expires: expires, attempts: attempts,
            lastFailure: lastFailure, idempotencyKey: content.idempotencyKey, bodySize: bodySize,
            constraints: Set(content.constraints.map(OfflineConstraint.init)), userInfo: content.userInfo)
    }
}

/// Where the body of a record is.
package enum StoredBody: Sendable, Hashable {
    case none
    case data(Data)
    /// A file that the queue owns.
    case file(URL)
}

/// The part of a record that does not change while it waits, apart from its body.
package struct StoredContent: Sendable, Codable, Hashable {
    /// The name of the message; `nil` for a request.
    package var message: String?
    package var method: String?
    package var url: URL?
    package var fields: [String: String]?
    /// The request's own time-out in seconds, if it is not Foundation's default.
    package var timeout: Double?
    package var constraints: [String]
    package var userInfo: Data?
    package var idempotencyKey: String
    /// The earliest time in seconds since 1970, if the record had to wait for it when it was added. The row has it only
    /// while the record waits, and no checksum covers it there.
    package var notBefore: Double?
    /// The checksum of a body that is in a file.
    package var bodyChecksum: Int64?

    package init(
        message: String? = nil, method: String? = nil, url: URL? = nil, fields: [String: String]? = nil,
        timeout: Double? = nil, constraints: [String], userInfo: Data? = nil, idempotencyKey: String,
        notBefore: Double? = nil, bodyChecksum: Int64? = nil
    ) {
        self.message = message
        self.method = method
        self.url = url
        self.fields = fields
        self.timeout = timeout
        self.constraints = constraints
        self.userInfo = userInfo
        self.idempotencyKey = idempotencyKey
        self.notBefore = notBefore
        self.bodyChecksum = bodyChecksum
    }

    /// The request without its body; `nil` for a message.
    package var request: URLRequest? {
        guard let url else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        if let timeout { request.timeoutInterval = timeout }
        return request
    }

    fileprivate var shown: OfflineRecord.Content {
        if let message { return .message(name: message) }
        // The content of a request has a URL. A damaged URL is shown as an empty file URL.
        return .request(request ?? URLRequest(url: URL(fileURLWithPath: "/")))
    }

    /// The scheme, host and port of the request.
    package var origin: String? { url.flatMap(Self.origin) }

    /// The scheme, host and port of a URL; `nil` if it has no host.
    package static func origin(of url: URL) -> String? {
        guard let host = url.host?.lowercased() else { return nil }
        return "\(url.scheme?.lowercased() ?? "")://\(host):\(url.port.map(String.init) ?? "")"
    }

    /// Whether the record waits for a network. A loopback address needs none.
    package var needsNetwork: Bool {
        guard constraints.contains(OfflineConstraint.reachable.name) else { return false }
        guard let host = url?.host?.lowercased() else { return true }
        return
            !(host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "::1"
            || host == "[::1]")
    }
}

/// A record that is to be added.
package struct NewRecord: Sendable {
    package var content: StoredContent
    package var body: StoredBody
    package var bodySize: Int64
    package var lane: String
    package var tag: String?
    package var uniqueKey: String?
    package var rule: UniqueRule
    package var priority: Int
    package var notBefore: Date?
    package var expires: Date?

    package init(
        content: StoredContent, body: StoredBody, bodySize: Int64, lane: String, tag: String? = nil,
        uniqueKey: String? = nil, rule: UniqueRule, priority: Int, notBefore: Date? = nil, expires: Date? = nil
    ) {
        self.content = content
        self.body = body
        self.bodySize = bodySize
        self.lane = lane
        self.tag = tag
        self.uniqueKey = uniqueKey
        self.rule = rule
        self.priority = priority
        self.notBefore = notBefore
        self.expires = expires
    }

    /// What the record waits for if it is added at a date, in seconds since 1970; `nil` if that is nothing.
    package func due(at added: Date) -> Double? {
        notBefore?.storable.flatMap { $0 > added ? $0.timeIntervalSince1970 : nil }
    }
}

/// What an addition expects of the records with the same unique key.
package enum UniqueRule: Sendable, Hashable {
    case append
    case keep
    case replace
    /// No record can be merged.
    case expectNone
    /// This record still has this checksum. It gets the new content.
    case update(OfflineRecord.ID, checksum: UInt64)
}

/// What became of an addition.
package enum AddResult: Sendable {
    case added(OfflineRecord.ID, ended: [(OfflineRecord.ID, OfflineOutcome)])
    /// The old record stays, or got the new content.
    case kept(OfflineRecord.ID)
    /// The expectation no longer holds.
    case conflict
}
