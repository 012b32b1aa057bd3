/// Percent-encodes text in UTF-8 (RFC 3986, section 2.1).
package struct PercentEncoding {
    /// For each byte, whether it stands for itself.
    private let standsForItself: [Bool]
    private let space: [UInt8]
    /// Whether an escape that is already in the text is kept.
    private let keepsEscapes: Bool
    /// Whether a lone CR or LF becomes CRLF.
    private let normalizesLineBreaks: Bool

    /// Makes an encoding.
    ///
    /// - Parameters:
    ///   - standsForItself: For each byte, whether it stands for itself: see ``table(_:)``.
    ///   - writesPlus: Whether a space becomes `+`, as in forms.
    init(
        _ standsForItself: [Bool], keepsEscapes: Bool = false, writesPlus: Bool = false,
        normalizesLineBreaks: Bool = false
    ) {
        self.standsForItself = standsForItself
        self.keepsEscapes = keepsEscapes
        self.normalizesLineBreaks = normalizesLineBreaks
        space = writesPlus ? Self.plus : Self.escapedSpace
    }

    /// Only the unreserved characters stand for themselves (RFC 3986, section 2.3).
    static let unreserved = PercentEncoding(table("-._~"))
    /// The reserved characters stand for themselves too, and so do escapes.
    static let reserved = PercentEncoding(table("-._~:/?#[]@!$&'()*+,;="), keepsEscapes: true)
    /// What a user and a password may hold (RFC 3986, section 3.2.1), and escapes.
    package static let userInformation = PercentEncoding(table("-._~!$&'()*+,;=:"), keepsEscapes: true)
    /// What a path may hold (RFC 3986, section 3.3), and escapes.
    static let path = PercentEncoding(table("-._~!$&'()*+,;=:@/"), keepsEscapes: true)
    /// What a query and a fragment may hold (RFC 3986, section 3.4), and escapes.
    static let query = PercentEncoding(table("-._~!$&'()*+,;=:@/?"), keepsEscapes: true)

    package func encoded(_ text: String) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(text.utf8.count)
        append(text, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    func append(_ text: String, to output: inout [UInt8]) {
        // The text's own bytes are used without a copy, unless the text comes from Objective-C.
        let wasAppended: Void? = text.utf8.withContiguousStorageIfAvailable { append($0, to: &output) }
        if wasAppended == nil { Array(text.utf8).withUnsafeBufferPointer { append($0, to: &output) } }
    }

    private func append(_ bytes: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        standsForItself.withUnsafeBufferPointer { standsForItself in
            if bytes.allSatisfy({ standsForItself[Int($0)] }) {
                output.append(contentsOf: bytes)
                return
            }
            for (place, byte) in bytes.enumerated() {
                if standsForItself[Int(byte)] {
                    output.append(byte)
                } else if byte == UInt8(ascii: " ") {
                    output += space
                } else if normalizesLineBreaks, bytes.isLoneLineBreak(at: place) {
                    output += Self.escapedLineBreak
                } else if keepsEscapes, byte == UInt8(ascii: "%"), bytes[place...].beginsWithEscape {
                    output.append(byte)
                } else {
                    output.append(UInt8(ascii: "%"))
                    output.append(Self.hexadecimal[Int(byte >> 4)])
                    output.append(Self.hexadecimal[Int(byte & 0xF)])
                }
            }
        }
    }

    private static let escapedSpace = Array("%20".utf8)
    private static let escapedLineBreak = Array("%0D%0A".utf8)
    private static let plus = Array("+".utf8)
    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// The table of the ASCII letters, the digits and other marks.
    static func table(_ marks: String) -> [Bool] {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let all = Set((letters + marks).utf8)
        return (0..<256).map { all.contains(UInt8($0)) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the byte at a place is a CR without an LF after it, or an LF without a CR before it.
    fileprivate func isLoneLineBreak(at place: Int) -> Bool {
        switch self[place] {
        case UInt8(ascii: "\r"): place + 1 == count || self[place + 1] != UInt8(ascii: "\n")
        case UInt8(ascii: "\n"): place == 0 || self[place - 1] != UInt8(ascii: "\r")
        default: false
        }
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// Whether two hexadecimal digits follow the first byte.
    fileprivate var beginsWithEscape: Bool {
        count > 2 && self[startIndex + 1].hexadecimalDigit != nil && self[startIndex + 2].hexadecimalDigit != nil
    }
}

extension UInt8 {
    var hexadecimalDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
