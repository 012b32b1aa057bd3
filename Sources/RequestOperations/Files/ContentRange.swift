/// The value of a `Content-Range` field in bytes (RFC 9110, section 14.4).
enum ContentRange: Sendable, Hashable {
    /// The content is these bytes of the representation. The total is `nil` if it is unknown.
    case bytes(ClosedRange<Int64>, total: Int64?)
    /// The range was not satisfiable. The representation has this length.
    case unsatisfied(total: Int64)

    /// Reads `bytes 5-9/10`, `bytes 5-9/*` and `bytes */10`; `nil` for anything else, which must not be used.
    init?(_ value: String) {
        let words = value.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
        let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let total = Int64(digits: parts[1])
        if parts[0] == "*" {
            guard let total else { return nil }
            self = .unsatisfied(total: total)
            return
        }
        let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int64(digits: bounds[0]), let last = Int64(digits: bounds[1]),
            first <= last, total.map({ last < $0 }) ?? (parts[1] == "*")
        else { return nil }
        self = .bytes(first...last, total: total)
    }
}

extension Int64 {
    /// Reads a number of decimal digits, without a sign.
    init?(digits: some StringProtocol) {
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int64(digits) else {
            return nil
        }
        self = value
    }
}
