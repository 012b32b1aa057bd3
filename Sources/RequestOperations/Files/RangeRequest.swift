/// A request for the rest of a file of which the beginning is there (RFC 9110, section 14.2).
struct RangeRequest: Sendable, Hashable {
    /// How many bytes are there. At least 1.
    let offset: Int64
    /// The validator of the response that they came from.
    let validator: StrongValidator
    /// The length of the whole file, if it is known.
    let total: Int64?

    /// Asks for the rest. If the representation has changed, `If-Range` asks for the whole of the new one.
    func ask(in request: inout URLRequest) {
        request.setValue("bytes=\(offset)-", forHTTPHeaderField: "Range")
        request.setValue(validator.value, forHTTPHeaderField: "If-Range")
    }

    /// Asks for the whole in place of the rest.
    static func withdraw(from request: inout URLRequest) {
        request.setValue(nil, forHTTPHeaderField: "Range")
        request.setValue(nil, forHTTPHeaderField: "If-Range")
    }
}
