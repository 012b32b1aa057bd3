/// What a server says about a problem, in a body of the media type `application/problem+json` (RFC 9457, section 3.1).
/// A member that is missing or has another type is `nil`, as that section demands.
public struct ProblemDetails: Sendable, Hashable {
    /// A URI reference that identifies the kind of problem. `nil` means `about:blank`: the status says everything.
    public let type: String?
    /// The status that the server gave this response.
    public let status: Int?
    /// A short text on the kind of problem, for people.
    public let title: String?
    /// A text on this occurrence of the problem, for people.
    public let detail: String?
    /// A URI reference that identifies this occurrence.
    public let instance: String?
}

extension ProblemDetails: Decodable {
    private enum Member: String, CodingKey {
        case type, status, title, detail, instance
    }

    /// Reads a JSON object. Anything else is an error.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        func text(_ member: Member) -> String? { try? members.decode(String.self, forKey: member) }
        type = text(.type)
        status = try? members.decode(Int.self, forKey: .status)
        title = text(.title)
        detail = text(.detail)
        instance = text(.instance)
    }
}

extension RequestError {
    /// What the server says about the problem. `nil` unless its response has the media type `application/problem+json`
    /// and is at most ``RequestConfiguration/errorBodyLimit`` bytes long.
    public var problem: ProblemDetails? {
        if let readProblem { return readProblem.value }
        return head.flatMap { ProblemDetails(of: $0, bodyPrefix) }
    }
}

extension ProblemDetails {
    fileprivate init?(of head: ResponseHead, _ body: Data) {
        guard let type = head.mediaType, type.isProblem,
            let problem = try? JSONDecoder().decode(ProblemDetails.self, from: body)
        else { return nil }
        self = problem
    }

    /// The failure of an attempt, completed with a problem that is longer than the part of the body that an error
    /// keeps.
    static func noted(in error: any Error) -> any Error {
        guard var failure = error as? TransferFailure, var refusal = failure.error as? RequestError,
            failure.bodyPrefix.count > TransferLimits.keptErrorBody, let head = refusal.head ?? failure.head,
            let problem = ProblemDetails(of: head, failure.bodyPrefix)
        else { return error }
        refusal.readProblem = Box(problem)
        failure.error = refusal
        return failure
    }
}

extension MediaType {
    fileprivate var isProblem: Bool { self.type == "application" && subtype == "problem+json" }
}
