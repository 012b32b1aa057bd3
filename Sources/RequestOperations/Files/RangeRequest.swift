/// A request for the rest of a file of which the beginning is there, or for a part of it (RFC 9110, section 14.2).
package struct RangeRequest: Sendable, Hashable {
    /// How many bytes are there. 0 for the first part of a file.
    var offset: Int64
    /// The validator of the response that they came from; `nil` for the first part of a file.
    let validator: StrongValidator?
    /// The length of the whole file, if it is known.
    let total: Int64?
    /// How many bytes are requested; `nil` for all that follow.
    var length: Int64?

    package init(offset: Int64, validator: StrongValidator?, total: Int64?, length: Int64? = nil) {
        self.offset = offset
        self.validator = validator
        self.total = total
        self.length = length
    }

    /// Asks for the bytes. If the representation has changed, `If-Range` asks for the whole of the new one.
    package func ask(in request: inout URLRequest) {
        let last = length.map { String(offset + $0 - 1) } ?? ""
        request.setValue("bytes=\(offset)-\(last)", forHTTPHeaderField: "Range")
        request.setValue(validator?.value, forHTTPHeaderField: "If-Range")
    }

    /// Whether a range goes no further than what was asked for.
    func covers(_ range: ClosedRange<Int64>) -> Bool {
        range.lowerBound == offset && length.map { range.upperBound < offset + $0 } ?? true
    }
}

/// What the response to a download's request means for the file.
///
/// It is a pure function of the request and the head. RFC 9110, sections 14 and 15.3.7, has the rules.
package enum RangeVerdict: Sendable, Hashable {
    /// The content is the whole file. What was there is dropped.
    case whole
    /// The content is the first part of the file, which has this length. What was there is dropped.
    case beginning(total: Int64)
    /// The content goes to the end of what is there. The whole file has this length.
    case rest(total: Int64)
    /// There is nothing left to send: the file is complete.
    case complete
    /// The content is of no use, and the bytes so far may not belong to the file. The whole file is requested at once.
    case askForWhole
    /// The response is not the file. Redirects and failures are among these.
    case notTheFile
    /// A part that was not requested.
    case unaskedPart

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - asked: What was requested; `nil` for the whole file.
    ///   - callerAsksForRange: Whether the caller's own request has a `Range`. The file is then that part.
    package init(_ head: ResponseHead, to asked: RangeRequest?, callerAsksForRange: Bool = false) {
        switch head.status {
        case 206:
            if callerAsksForRange {
                self = .whole
            } else if let asked {
                self = Self.ofPart(head, asked)
            } else {
                self = .unaskedPart
            }
        case 416:
            self = asked.map { Self.ofUnsatisfied(head, $0) } ?? .notTheFile
        // A response that is not HTTP has the status 0.
        case 0, 200..<300:
            self = .whole
        default:
            self = .notTheFile
        }
    }

    /// Whether the content begins the file, so that nothing of what was there counts.
    var beginsFile: Bool {
        switch self {
        case .whole, .beginning: true
        case .rest, .complete, .askForWhole, .notTheFile, .unaskedPart: false
        }
    }

    private static func ofPart(_ head: ResponseHead, _ asked: RangeRequest) -> Self {
        // Parts of a compressed form cannot follow bytes that are not compressed.
        guard !head.hasContentCoding,
            // A response of several parts (`multipart/byteranges`) has no such field.
            case .bytes(let range, let total)? = head.contentRange, asked.covers(range),
            asked.total == nil || total == nil || asked.total == total,
            // Some servers send the whole file under the range that was asked for.
            head.lengthOfWhole.map({ $0 - 1 == range.upperBound - range.lowerBound }) ?? true,
            // A server may send less than was asked for. Without the length nobody could tell.
            let total = total ?? asked.total
        else { return .askForWhole }
        if let validator = asked.validator { return validator.matches(head) ? .rest(total: total) : .askForWhole }
        // The other parts must be of the same state of the file.
        guard StrongValidator(head) != nil || range.upperBound == total - 1 else { return .askForWhole }
        return .beginning(total: total)
    }

    private static func ofUnsatisfied(_ head: ResponseHead, _ asked: RangeRequest) -> Self {
        // An empty file has no first part.
        guard let validator = asked.validator,
            case .unsatisfied(asked.offset)? = head.contentRange, asked.total == nil || asked.total == asked.offset,
            // The tag need not be there. If it is, it must be the same.
            head.field("ETag") == nil || validator.matches(head)
        else { return .askForWhole }
        return .complete
    }
}

extension ResponseHead {
    /// The range of the content, if it can be read.
    fileprivate var contentRange: ContentRange? { field("Content-Range").flatMap { ContentRange($0) } }

    /// Whether the content is in a coded form, such as gzip.
    package var hasContentCoding: Bool {
        guard let codings = field("Content-Encoding") else { return false }
        return codings.split(separator: ",").contains {
            $0.trimmingCharacters(in: .whitespaces).lowercased() != "identity"
        }
    }

    /// The declared length of the content: that of the whole file in a response with all of it. `nil` if it is unknown.
    package var lengthOfWhole: Int64? {
        hasContentCoding
            ? nil : field("Content-Length").flatMap { Int64(digits: $0.trimmingCharacters(in: .whitespaces)) }
    }
}

/// What names one state of a representation, byte by byte (RFC 9110, section 8.8.1).
///
/// Only parts of the same state may be put together to a file. A weak validator does not tell two states apart, so it is
/// never used.
package enum StrongValidator: Sendable, Hashable, Codable {
    /// A strong entity tag, with its quotation marks.
    case entityTag(String)
    /// A date of modification, as the server wrote it.
    case date(String)

    /// The strong validator of a response; `nil` if it has none.
    package init?(_ head: ResponseHead) {
        if let tag = head.field("ETag") {
            // A response with a weak tag often has a date that is no better.
            guard Self.isStrong(tag) else { return nil }
            self = .entityTag(tag)
        } else if let modified = head.field("Last-Modified"), Self.isStrong(modified, head) {
            self = .date(modified)
        } else {
            return nil
        }
    }

    /// The value of `If-Range` and of the field that the validator came from.
    var value: String {
        switch self {
        case .entityTag(let tag): tag
        case .date(let date): date
        }
    }

    /// Whether a part with this head belongs to the same state.
    ///
    /// A 206 must repeat the entity tag. It should not repeat the date (RFC 9110, section 15.3.7).
    func matches(_ head: ResponseHead) -> Bool {
        switch self {
        case .entityTag(let tag): head.field("ETag") == tag
        case .date(let date): head.field("Last-Modified").map { $0 == date } ?? true
        }
    }

    private static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") && !tag.dropFirst().dropLast().contains("\"")
    }

    /// A date is strong only if the resource cannot have changed twice within its second (RFC 9110, section 8.8.2.2).
    ///
    /// The time between the two dates must exceed any difference of the clocks that wrote them. A minute does.
    private static func isStrong(_ modified: String, _ head: ResponseHead) -> Bool {
        let now = Date()
        guard let modified = HTTPDate.parse(modified, now: now),
            let date = head.field("Date").flatMap({ HTTPDate.parse($0, now: now) })
        else { return false }
        return date.timeIntervalSince(modified) >= 60
    }
}

/// The value of a `Content-Range` field in bytes (RFC 9110, section 14.4).
enum ContentRange: Sendable, Hashable {
    /// The content is these bytes of the representation. The total is `nil` if it is unknown.
    case bytes(ClosedRange<Int64>, total: Int64?)
    /// The range was not satisfiable. The representation has this length.
    case unsatisfied(total: Int64)

    /// Reads `bytes 5-9/10`, `bytes 5-9/*` and `bytes */10`; `nil` for anything else, which must not be used.
    init?(_ value: String) {
        let words = value.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Int64(digits: parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(digits: bounds[0]), let last = Int64(digits: bounds[1]),
            first <= last, total.map({ last < $0 }) ?? (parts[1] == "*")
        else { return nil }
        self = .bytes(first...last, total: total)
    }
}

extension Int64 {
    /// Reads a number of decimal digits, without a sign.
    init?(digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(digits) else {
            return nil
        }
        self = value
    }
}
