/// Judges the head of a response: one closure, with ready-made ones for status and content type.
///
/// Runs once for each response that is not a followed redirect, before any of its body is delivered.
public struct ResponseValidation: Sendable {
    /// Accepts a head by returning, rejects it by throwing. Called on the Task of the operation; it should return soon.
    public let validate: @Sendable (ResponseHead) throws -> Void

    /// Makes a validation from its one function.
    public init(_ validate: @escaping @Sendable (ResponseHead) throws -> Void) {
        self.validate = validate
    }

    /// Accepts every response.
    public static let none = ResponseValidation { _ in }

    /// Accepts the statuses 200 to 299, and what is not HTTP.
    public static let successfulStatus = status(200..<300)

    /// Accepts the statuses of a range, and what is not HTTP. Others fail as ``RequestError/Code/unacceptableStatus``.
    public static func status(_ accepted: Range<Int>) -> ResponseValidation {
        status { accepted.contains($0) }
    }

    /// Accepts the statuses of a set, and what is not HTTP. Others fail as ``RequestError/Code/unacceptableStatus``.
    public static func status(in accepted: Set<Int>) -> ResponseValidation {
        status { accepted.contains($0) }
    }

    private static func status(_ isAccepted: @escaping @Sendable (Int) -> Bool) -> ResponseValidation {
        ResponseValidation { head in
            guard !head.isHTTP || isAccepted(head.status) else {
                throw RequestError(.unacceptableStatus, stage: .validate, head: head)
            }
        }
    }

    /// Accepts responses whose `Content-Type` matches one of a list.
    ///
    /// It also accepts responses without content (204, 205, 304 or a length of zero), responses to HEAD without a
    /// `Content-Type`, and what is not HTTP. Others fail as ``RequestError/Code/unacceptableContentType``.
    ///
    /// - Parameter accepted: Media ranges (RFC 9110, section 12.5.1), such as `application/json`, `text/*`, `*/*` or
    ///   `text/plain;charset=utf-8`. Types and parameter names compare without regard to case. A range with parameters
    ///   needs each of them; further ones in the response do no harm. A range that cannot be read is a programmer's error.
    public static func contentType(_ accepted: [String]) -> ResponseValidation {
        let ranges = accepted.map { text in
            guard let range = MediaType(text) else { preconditionFailure("'\(text)' is not a media range") }
            return range
        }
        return ResponseValidation { head in
            guard head.isHTTP, head.mayHaveContent else { return }
            let field = head.field("Content-Type")
            if field == nil, head.answersHEAD { return }
            guard let type = field.flatMap(MediaType.ofField), ranges.contains(where: { $0.includes(type) })
            else {
                // The type that came stands in the head; a description never quotes what a server sent.
                throw RequestError(
                    .unacceptableContentType, stage: .validate, head: head,
                    reason: "accepted is \(accepted.joined(separator: ", "))")
            }
        }
    }

    /// A validation that accepts what both accept; this one is asked first.
    public func and(_ other: ResponseValidation) -> ResponseValidation {
        ResponseValidation { [validate] head in
            try validate(head)
            try other.validate(head)
        }
    }
}

extension ResponseHead {
    fileprivate var mayHaveContent: Bool {
        ![204, 205, 304].contains(status) && !declaresNoContent
    }

    /// A length that was sent several times is one if it is always the same (RFC 9110, section 8.6).
    private var declaresNoContent: Bool {
        guard let length = field("Content-Length") else { return false }
        return length.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { part in
            let digits = part.trimmingCharacters(in: .whitespaces)
            return !digits.isEmpty && digits.allSatisfy { $0 == "0" }
        }
    }
}
