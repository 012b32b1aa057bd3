/// The request that the attempts of one are processed from.
///
/// To copy a `URLRequest` costs four times as much as to set a field in the only copy that there is. So where adapters set
/// fields and nothing else, which gives every attempt the same, they are set in this one, and it keeps which there were.
struct OriginalRequest: Sendable {
    private enum Fields {
        case own
        /// Those of the adapters are set; kept are those that were there.
        case adapted(own: [String: String]?)
    }

    private var request: URLRequest
    private var fields = Fields.own
    /// The key that an adapter asked for; in a box, since every operation that waits has room for it.
    private var key: Box<String>?

    init(_ request: URLRequest) {
        self.request = request
    }

    /// The request as it was given.
    var value: URLRequest {
        guard case .adapted(let own) = fields else { return request }
        var original = request
        original.allHTTPHeaderFields = own
        return original
    }

    /// The key that the attempts of this request have, if an adapter asked for it.
    var idempotencyKey: String? { key?.value }

    /// Keeps a key for all attempts, unless there is one; which that is.
    mutating func keep(_ new: String) -> String {
        if let key { return key.value }
        key = Box(new)
        return new
    }

    /// Takes another request in place of this one. It gets a key of its own, also if it was made of one that was sent, and so
    /// has that of the attempts before.
    mutating func replace(with request: URLRequest) {
        var request = request
        if let key, request.value(forHTTPHeaderField: IdempotencyKey.field) == key.value {
            request.setValue(nil, forHTTPHeaderField: IdempotencyKey.field)
        }
        self = OriginalRequest(request)
    }

    /// The request with its fields set.
    ///
    /// - Parameter adapters: The same each time; they set fields and nothing else.
    mutating func adapted(by adapters: [RequestAdapter]) -> URLRequest {
        if case .own = fields, !adapters.isEmpty {
            fields = .adapted(own: request.allHTTPHeaderFields)
            for adapter in adapters { adapter.setField(of: &request) }
        }
        return request
    }
}
