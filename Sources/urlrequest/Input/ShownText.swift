import RequestOperations

/// A part of the input in a form that can be printed: short, and without terminal control characters.
func quoted(_ text: String) -> String {
    let safe = text.unicodeScalars.prefix(40).map { $0.properties.isGraphic ? Character($0) : "?" }
    return "“\(String(safe))”"
}

/// A character of the input in a form that can be printed, with a word that says what it is.
func named(_ scalar: Unicode.Scalar) -> String {
    guard scalar.properties.isGraphic else {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "the character U+\(String(repeating: "0", count: max(4 - digits.count, 0)))\(digits)"
    }
    return "the character “\(scalar)”"
}

/// A text as it is, or as a JSON string if it has a control character, a quotation mark or a backslash.
///
/// It stays on its line, and different texts stay different.
func lineText(_ text: String) -> String {
    let json = jsonText(text)
    return json.dropFirst().dropLast() == text ? text : json
}

/// A text as ``lineText(_:)``, for one of several columns with spaces between them. There, `-` means that there is none.
func columnText(_ text: String) -> String {
    text.isEmpty || text == "-" || text.contains(" ") ? jsonText(text) : lineText(text)
}

extension Unicode.Scalar.Properties {
    fileprivate var isGraphic: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
