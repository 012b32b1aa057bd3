/// Judges the head of a response. It is one closure, and several are ready-made for status and content type.
///
/// It runs once for each response that is not a followed redirect, before any of its body is delivered.
public struct ResponseValidation: Sendable {
    /// Accepts a head by returning, or rejects it by throwing. It is called on the Task of the operation and should
    /// return quickly.
    public let validate: @Sendable (ResponseHead) throws -> Void

    /// Makes a validation from one function.
    public init(_ validate: @escaping @Sendable (ResponseHead) throws -> Void) {
        self.validate = validate
    }

    /// Accepts every response.
    public static let none = ResponseValidation { _ in }

    /// Accepts the statuses 200 to 299, and responses that are not HTTP.
    public static let successfulStatus = status(200..<300)

    /// Accepts the statuses of a range, and responses that are not HTTP.
    ///
    /// Other statuses fail as ``RequestError/Code/unacceptableStatus``.
    public static func status(_ accepted: Range<Int>) -> ResponseValidation {
        status { accepted.contains($0) }
    }

    /// Accepts the statuses of a set, and responses that are not HTTP.
    ///
    /// Other statuses fail as ``RequestError/Code/unacceptableStatus``.
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
    /// It also accepts responses without content (204, 205, 304 or a length of zero) and responses that are not HTTP. A
    /// response to HEAD may lack a `Content-Type`. Other responses fail as
    /// ``RequestError/Code/unacceptableContentType``.
    ///
    /// - Parameter accepted: Media ranges (RFC 9110, section 12.5.1), such as `application/json`, `text/*`, `*/*` or
    ///   `text/plain;charset=utf-8`. Types and parameter names ignore case. If a range has parameters, the response
    ///   must have all of them. It may have more. A range that cannot be read is a programmer's error.
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
                // The head contains the received type. A description never quotes what a server sent.
                throw RequestError(
                    .unacceptableContentType, stage: .validate, head: head,
                    reason: "the accepted types are \(accepted.joined(separator: ", "))")
            }
        }
    }

    /// A validation that accepts what both accept. This validation runs first.
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

    /// A length that was sent several times is valid if it is the same each time (RFC 9110, section 8.6).
    private var declaresNoContent: Bool {
        guard let length = field("Content-Length") else { return false }
        return length.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { part in
            let digits = part.trimmingCharacters(in: .whitespaces)
            return !digits.isEmpty && digits.allSatisfy { $0 == "0" }
        }
    }
}
