/// The field lines of one response, kept as the bytes that arrived and parsed when asked.
///
/// Lines end with CRLF or LF. A line that begins with a space or a tab continues the one before it (obsolete folding,
/// RFC 9112, section 5.2). A line without a name and a colon is skipped, with its continuations. A CR or NUL within a
/// line becomes a space (RFC 9110, section 5.5).
package struct HeaderBlock: Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        forEachField { name, value in
            fields.append((text(name), text(value)))
        } continuation: { value in
            append(value, to: &fields[fields.count - 1].value)
        }
        return fields
    }

    /// The values of all fields of a name, joined by `", "`. It makes no string of any other field.
    package func value(of name: String) -> String? {
        var values: [String] = []
        var isMatch = false
        forEachField { candidate, value in
            isMatch = candidate.isSameFieldName(as: name.utf8)
            if isMatch { values.append(text(value)) }
        } continuation: { value in
            if isMatch { append(value, to: &values[values.count - 1]) }
        }
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Goes through the fields in order. The continuations of a field follow it. Names and values have no blanks around
    /// them.
    private func forEachField(
        _ body: (_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) -> Void,
        continuation: (_ value: ArraySlice<UInt8>) -> Void
    ) {
        var isInField = false
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: .lineFeed) ?? bytes.endIndex
            let line = bytes[start..<end]
            start = end + 1
            guard let first = line.first, !line.allSatisfy(\.isCarriageReturn) else { continue }
            if first == .space || first == .tab {
                if isInField { continuation(trimmed(line)) }
                continue
            }
            let colon = line.firstIndex(of: .colon) ?? line.startIndex
            let name = trimmed(line[..<colon])
            isInField = !name.isEmpty
            if isInField { body(name, trimmed(line[(colon + 1)...])) }
        }
    }

    private func append(_ continuation: ArraySlice<UInt8>, to value: inout String) {
        guard !continuation.isEmpty else { return }
        value += (value.isEmpty ? "" : " ") + text(continuation)
    }

    private func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = slice
        while let first = slice.first, first.isBlank { slice.removeFirst() }
        while let last = slice.last, last.isBlank { slice.removeLast() }
        return slice
    }

    private func text(_ slice: ArraySlice<UInt8>) -> String {
        guard slice.contains(where: { $0 >= 0x80 || $0.isForbidden }) else {
            return String(decoding: slice, as: UTF8.self)
        }
        let bytes = slice.map { $0.isForbidden ? .space : $0 }
        return String(bytes: bytes, encoding: .utf8)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")
    fileprivate static let colon = UInt8(ascii: ":")
    fileprivate static let lineFeed = UInt8(ascii: "\n")

    fileprivate var isCarriageReturn: Bool { self == UInt8(ascii: "\r") }

    /// A byte that no field may contain. It is read as a space.
    fileprivate var isForbidden: Bool { isCarriageReturn || self == 0 }

    fileprivate var isBlank: Bool { self == .space || self == .tab || isForbidden }
}
