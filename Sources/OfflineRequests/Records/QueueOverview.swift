import Foundation
import RequestOperations

/// A queue as a whole, for people: counts by state, lane and host, and what happened in the last hour.
package struct QueueOverview: Sendable, Equatable {
    /// A lane or a host, and how many records it has.
    package struct Group: Sendable, Equatable, Encodable {
        /// The lane, or the scheme, host and port as in `https://example.org`. Empty for records without a lane, and for
        /// messages.
        package let name: String
        /// How many records it has, at most ``QueueOverview/mostCounted`` and one.
        package let count: Int

        package init(name: String, count: Int) {
            self.name = name
            self.count = count
        }
    }

    /// What happened in one minute.
    package struct Minute: Sendable, Equatable {
        package var delivered = 0
        /// Failed attempts. Those that made a dead letter count too.
        package var failed = 0

        package init() {}
    }

    /// No more records of a group are counted, so that the cost does not grow with the queue.
    package static let mostCounted = 10_000
    /// No more lanes and no more hosts are listed.
    package static let mostGroups = 30
    /// How many minutes are shown.
    package static let minutesShown = 60

    package var counts: OfflineCounts
    /// The first lanes in the order of their names.
    package var lanes: [Group]
    /// The first hosts in the order of their names.
    package var hosts: [Group]
    /// The last hour, oldest first. The last minute is the present one, which is not over.
    package var minutes: [Minute]

    package init(
        counts: OfflineCounts, lanes: [Group], hosts: [Group], minutes: [Minute]
    ) {
        self.counts = counts
        self.lanes = lanes
        self.hosts = hosts
        self.minutes = minutes
    }

    /// The sum of a number over the last hour.
    package func total(_ number: (Minute) -> Int) -> Int { minutes.reduce(0) { $0 + number($1) } }

    /// The scheme, host and port of an origin. An origin without a port ends with the colon before it, which is not shown.
    package static func host(ofOrigin origin: String) -> String {
        String(origin.dropLast(origin.hasSuffix(":") ? 1 : 0))
    }
}

/// Which records a list shows, newest first.
package struct RecordQuery: Sendable, Hashable {
    /// The states, the lane and the tag.
    package var filter: RecordFilter
    /// The scheme, host and port as ``QueueOverview/Group/name`` has them. `nil` by default, which means any.
    package var host: String?
    /// A text that the request, the lane, the tag, the key or the failure contains, or an id. Credentials are not searched.
    /// Letters of ASCII match in both cases. `nil` by default, which means any.
    package var text: String?
    /// The list begins before this record. `nil`, at the newest record, by default.
    package var before: OfflineRecord.ID?
    /// The most records of a page. 50 by default.
    package var limit = 50
    /// The most records that are looked at for one page, so that a rare text does not block the store. 20,000 by default.
    package var steps = 20_000

    package init(_ filter: RecordFilter = .all, host: String? = nil, text: String? = nil) {
        self.filter = filter
        self.host = host
        self.text = text
    }

    /// The longest run of letters and digits of ASCII in the text, in small letters; `nil` if there is none. A record that
    /// shows the text has the run in the store, where other characters may be written in another way.
    package var storedRun: String? {
        let runs = (text ?? "").utf8.split { !$0.isLetterOrDigit }
            .map { String(decoding: $0.map(\.lowercased), as: UTF8.self) }
        // The mark in place of a credential is shown, but not stored.
        return runs.filter { !Redaction.mark.contains($0) }.max { $0.utf8.count < $1.utf8.count }
    }
}

extension UInt8 {
    /// Whether it is a letter or a digit of ASCII.
    fileprivate var isLetterOrDigit: Bool {
        (0x30...0x39).contains(self) || (0x61...0x7A).contains(lowercased)
    }

    /// A letter of ASCII as a small letter.
    fileprivate var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

/// A part of a list of records.
package struct RecordPage: Sendable {
    package var records: [OfflineRecord] = []
    /// Where the next page begins (``RecordQuery/before``). `nil` at the end of the list.
    package var next: OfflineRecord.ID?
    /// How many records were looked at.
    package var looked = 0

    package init() {}
}

extension OfflineRecord {
    /// The method and the URL of a request without credentials, or the name of a message.
    package var subject: String {
        switch content {
        case .message(let name): "message \(name)"
        case .request(let request):
            "\(request.httpMethod ?? "GET") \(request.url.map { Redaction.default.text(of: $0) } ?? "")"
        }
    }

    /// The scheme, host and port of a request, as ``QueueOverview/Group/name`` has them; `nil` for a message.
    package var host: String? {
        if case .request(let request) = content {
            request.url.flatMap(StoredContent.origin).map(QueueOverview.host)
        } else {
            nil
        }
    }

    /// Whether a text is the id, or in what people are shown of the record.
    package func contains(_ text: String) -> Bool {
        if ID(shown: text) == id { return true }
        var texts = [subject, lane, tag, uniqueKey, lastFailure]
        if case .dead(let reason) = state { texts.append("\(reason)") }
        let text = text.lowercased()
        return texts.contains { $0?.lowercased().contains(text) ?? false }
    }
}

extension OfflineRecord.ID {
    /// Reads an id as people are shown it: a number, perhaps after a number sign. `nil` for any other text.
    package init?(shown text: String) {
        guard let number = Int64(text.hasPrefix("#") ? text.dropFirst() : text[...]) else { return nil }
        self.init(rawValue: number)
    }
}
