/// The field lines of one response as the bytes that arrived, parsed when asked.
///
/// Lines end with CRLF or LF; a line that begins with a space or a tab continues the one before it (obsolete folding,
/// RFC 9112, section 5.2); a line without a colon is skipped.
package struct HeaderBlock: Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        forEachLine { line in
            if let first = line.first, first == .space || first == .tab {
                guard let last = fields.indices.last else { return true }
                fields[last].value += " " + text(trimmed(line))
            } else if let colon = line.firstIndex(of: .colon) {
                fields.append((text(trimmed(line[..<colon])), text(trimmed(line[(colon + 1)...]))))
            }
            return true
        }
        return fields
    }

    /// The values of a name joined by `", "`, found without making a string of any other field.
    package func value(of name: String) -> String? {
        let wanted = Array(name.utf8)
        var value: String?
        var continuesMatch = false
        forEachLine { line in
            if let first = line.first, first == .space || first == .tab {
                if continuesMatch { value?.append(" " + text(trimmed(line))) }
            } else {
                continuesMatch = nameEquals(line, wanted)
                if continuesMatch {
                    let found = text(trimmed(line[(line.startIndex + wanted.count + 1)...]))
                    value = value.map { "\($0), \(found)" } ?? found
                }
            }
            return true
        }
        return value
    }

    private func forEachLine(_ body: (ArraySlice<UInt8>) -> Bool) {
        var start = bytes.startIndex
        while start < bytes.endIndex {
            let newline = bytes[start...].firstIndex(of: .lineFeed) ?? bytes.endIndex
            let end = newline > start && bytes[newline - 1] == .carriageReturn ? newline - 1 : newline
            if end > start, !body(bytes[start..<end]) { return }
            start = newline + 1
        }
    }

    private func nameEquals(_ line: ArraySlice<UInt8>, _ wanted: [UInt8]) -> Bool {
        guard line.count > wanted.count, line[line.startIndex + wanted.count] == .colon else { return false }
        return zip(line, wanted).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }

    private func trimmed(_ slice: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var slice = slice
        while let first = slice.first, first == .space || first == .tab { slice.removeFirst() }
        while let last = slice.last, last == .space || last == .tab { slice.removeLast() }
        return slice
    }

    private func text(_ slice: ArraySlice<UInt8>) -> String {
        String(validating: slice, as: UTF8.self)
            ?? String(String.UnicodeScalarView(slice.map { Unicode.Scalar($0) }))
    }
}

extension UInt8 {
    fileprivate static let space = UInt8(ascii: " ")
    fileprivate static let tab = UInt8(ascii: "\t")
    fileprivate static let colon = UInt8(ascii: ":")
    fileprivate static let lineFeed = UInt8(ascii: "\n")
    fileprivate static let carriageReturn = UInt8(ascii: "\r")

    fileprivate var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
