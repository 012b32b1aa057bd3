import Foundation

/// A representation. A client may ask for one range of its bytes.
struct RangedFile: Sendable {
    private enum AskedRange {
        case within(Range<Int>)
        case outside
    }

    private let content: Data
    private let etag: String?
    private let lastModified: String?
    private let fields: LoopbackServer.Fields

    init(content: Data, contentType: String, etag: String?, lastModified: Date?) {
        self.content = content
        self.etag = etag
        self.lastModified = lastModified.map(RangedFile.httpDate)
        var fields: LoopbackServer.Fields = ["Content-Type": contentType, "Accept-Ranges": "bytes"]
        if let etag { fields.append(name: "ETag", value: etag) }
        if let date = self.lastModified { fields.append(name: "Last-Modified", value: date) }
        self.fields = fields
    }

    func response(to request: LoopbackServer.Request) -> LoopbackServer.Response {
        guard request.method == "GET", matches(ifRange: request.field("If-Range")),
            let asked = request.field("Range").flatMap(range)
        else { return .status(200, fields: fields, body: content) }

        var fields = fields
        switch asked {
        case .outside:
            fields.append(name: "Content-Range", value: "bytes */\(content.count)")
            return .status(416, fields: fields)
        case .within(let range):
            fields.append(
                name: "Content-Range", value: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)")
            return .status(206, fields: fields, body: content.dropFirst(range.lowerBound).prefix(range.count))
        }
    }

    /// Whether the client's partial copy belongs to this representation (RFC 9110, section 13.1.5). A weak tag never
    /// matches.
    private func matches(ifRange condition: String?) -> Bool {
        guard let condition else { return true }
        if condition.hasPrefix("\"") { return condition == etag }
        return condition == lastModified
    }

    /// Reads one range of bytes. Returns nil for anything else, which is then ignored.
    private func range(_ value: String) -> AskedRange? {
        guard value.lowercased().hasPrefix("bytes=") else { return nil }
        let bounds = value.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        // A sign is not allowed here, but `Int` would accept one.
        guard bounds.count == 2, bounds.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else { return nil }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (let first?, let last?):
            guard first <= last else { return nil }
            return first < content.count ? .within(first..<(min(last, content.count - 1) + 1)) : .outside
        case (let first?, nil) where bounds[1].isEmpty:
            return first < content.count ? .within(first..<content.count) : .outside
        case (nil, let suffix?) where bounds[0].isEmpty:
            return suffix > 0 && !content.isEmpty ? .within(max(0, content.count - suffix)..<content.count) : .outside
        default:
            return nil
        }
    }

    /// The preferred form of RFC 9110, section 5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func httpDate(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
