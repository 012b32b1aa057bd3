/// What a ``RequestClient`` knows of one request, batch or chain. Hooks and observers get it, and so does who cancels.
public struct Submission: Sendable, Identifiable {
    /// The kinds of submissions.
    public enum Kind: Sendable, Hashable {
        /// A request, or other work that is retried.
        case request
        /// A ``RequestBatch``.
        case batch
        /// A ``RequestChain``.
        case chain
        /// A ``RequestGroup``.
        case group
        /// Another operation.
        case other
    }

    /// The identifier. It stays the same for all attempts, and no other submission of the process has it.
    public let id: RequestID
    /// What was submitted.
    public let kind: Kind
    /// The method of a request. `nil` for anything else.
    public let method: HTTPMethod?
    /// The path of a request as its call or its endpoint gave it, before its variables had values. `nil` for anything else.
    public let path: String?
    /// The URL of a request, before hooks and adapters changed it. `nil` if it could not be made, and for anything else.
    ///
    /// It is that of a request that is started alone. So are the user info and the host by which requests are cancelled: a
    /// ``RequestHook/defaults(_:_:)`` hook may give others to a member of a batch, a chain or a group.
    public let url: URL?
    /// The type of the endpoint. `nil` for a request without one.
    public let endpointType: Any.Type?
    /// The name given to several submissions.
    public let tag: String?
    /// The user info of the request and of its client.
    public let userInfo: [String: any Sendable]

    private let reference: OperationReference

    /// The operation. `nil` once it is no longer held by its queue or by anyone else.
    public var operation: Operation? { reference.operation }

    /// Makes the submission of an operation that is no request of the client.
    init(_ operation: Operation, id: RequestID, kind: Kind, tag: String?) {
        self.id = id
        self.kind = kind
        self.tag = tag
        (method, path, url, endpointType, userInfo) = (nil, nil, nil, nil, [:])
        reference = OperationReference(operation)
    }

    /// Makes the submission of a request of the client.
    init(
        _ operation: Operation, id: RequestID, method: HTTPMethod, path: String, url: URL?, endpointType: Any.Type?,
        tag: String?, userInfo: [String: any Sendable]
    ) {
        self.id = id
        kind = .request
        self.method = method
        self.path = path
        self.url = url
        self.endpointType = endpointType
        self.tag = tag
        self.userInfo = userInfo
        reference = OperationReference(operation)
    }
}

extension Submission: CustomStringConvertible, CustomReflectable {
    /// One line: kind, identifier, method and path without query.
    public var description: String {
        let line = [method?.rawValue, url.map { Redaction.location(of: $0) }].compactMap { $0 }.joined(separator: " ")
        return line.isEmpty ? "\(kind) \(id)" : "\(kind) \(id): \(line)"
    }

    /// No children, so that `dump` shows no user info.
    public var customMirror: Mirror { Mirror(opaque: self) }
}

/// Refers to an operation without keeping it.
// Unchecked, because the weak reference is set only once, by `init`.
private final class OperationReference: @unchecked Sendable {
    private(set) weak var operation: Operation?

    init(_ operation: Operation) {
        self.operation = operation
    }
}
