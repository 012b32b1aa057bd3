extension Sequence<UInt8> {
    /// Whether these bytes name the field that those do: without regard to case (RFC 9110, section 5.1).
    func isSameFieldName(as other: some Sequence<UInt8>) -> Bool {
        elementsEqual(other) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

extension UInt8 {
    fileprivate var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

extension URLRequest {
    /// Sets a field, in place of one of the same name.
    ///
    /// Foundation's own `setValue(_:forHTTPHeaderField:)` does nothing on Linux when the value has a line break: the request
    /// would go out without its field, where the check before sending refuses it. It also takes five times as long.
    mutating func setField(_ name: String, to value: String) {
        var fields = allHTTPHeaderFields ?? [:]
        for other in fields.keys where other.utf8.isSameFieldName(as: name.utf8) { fields[other] = nil }
        fields[name] = value
        allHTTPHeaderFields = fields
    }
}
