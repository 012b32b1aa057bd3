/// A request for the rest of a file of which the beginning is there, or for a part of it (RFC 9110, section 14.2).
package struct RangeRequest: Sendable, Hashable {
    /// How many bytes are there. 0 for the first part of a file.
    let offset: Int64
    /// The validator of the response that they came from; `nil` for the first part of a file.
    let validator: StrongValidator?
    /// The length of the whole file, if it is known.
    let total: Int64?
    /// How many bytes are asked for; `nil` for all that follow.
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

    /// Asks for the whole in place of the rest.
    static func withdraw(from request: inout URLRequest) {
        request.setValue(nil, forHTTPHeaderField: "Range")
        request.setValue(nil, forHTTPHeaderField: "If-Range")
    }
}
