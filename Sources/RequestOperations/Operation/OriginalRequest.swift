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
