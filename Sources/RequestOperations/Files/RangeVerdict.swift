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
    /// The content is of no use, and what is there may not belong to the file. The whole is asked for at once.
    case askForWhole
    /// The response is not the file. Redirects and failures are among these.
    case notTheFile
    /// A part that was not asked for.
    case unaskedPart

    /// Judges a response.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - asked: What was asked for; `nil` if it was the whole.
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
