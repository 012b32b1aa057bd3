/// The value of a `Content-Disposition` field (RFC 6266).
struct ContentDisposition: Sendable, Hashable {
    /// The name that the server suggests, as it came. It may hold anything, also a path.
    let fileName: String?

    /// Reads a value. What cannot be read ends it, and the parameters before that count.
    ///
    /// `filename*` counts more than `filename` (RFC 6266, section 4.3), unless it cannot be decoded. Of several parameters
    /// of one name, the first counts.
    init(_ value: String) {
        var rest = Substring(value).unicodeScalars
        var parameters: [String: String] = [:]
        // The disposition itself does not matter: this is a download in any case.
        _ = Self.prefix(of: &rest) { $0 != ";" }
        while rest.popFirst() == ";" {
            let name = Self.prefix(of: &rest) { $0 != "=" && $0 != ";" }.lowercased()
            guard rest.first == "=" else { continue }
            rest.removeFirst()
            rest = rest.drop { $0 == " " || $0 == "\t" }
            let text: String
            if rest.first == "\"" {
                guard let quoted = rest.takeQuotedString() else { break }
                text = quoted
                _ = Self.prefix(of: &rest) { $0 != ";" }
            } else {
                text = Self.prefix(of: &rest) { $0 != ";" }
            }
            parameters[name] = parameters[name] ?? text
        }
        fileName = parameters["filename*"].flatMap(Self.decoded) ?? parameters["filename"]
    }

    /// Takes a prefix, without the space around it.
    private static func prefix(
        of rest: inout Substring.UnicodeScalarView, while isTaken: (Unicode.Scalar) -> Bool
    ) -> String {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return String(Substring(taken)).trimmingCharacters(in: .whitespaces)
    }

    /// `UTF-8'en'%C3%A9` as text (RFC 8187, section 3.2). ISO 8859-1 was a part of the older RFC 5987.
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let text = String(parts[2])
        switch parts[0].lowercased() {
        case "utf-8": return text.removingPercentEncoding
        case "iso-8859-1": return decodedLatin1(text)
        default: return nil
        }
    }

    private static func decodedLatin1(_ text: String) -> String? {
        var decoded = String.UnicodeScalarView()
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(Unicode.Scalar(byte))
                continue
            }
            guard let code = Data(hexadecimal: String(rest.prefix(2)) ?? ""), code.count == 1 else { return nil }
            decoded.append(Unicode.Scalar(code[0]))
            rest = rest.dropFirst(2)
        }
        return String(decoded)
    }
}
