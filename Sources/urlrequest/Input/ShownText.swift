import RequestOperations

/// A part of the input in a form that can be printed: short, and without terminal control characters.
func quoted(_ text: String) -> String {
    let safe = text.unicodeScalars.prefix(40).map { $0.properties.isGraphic ? Character($0) : "?" }
    return "“\(String(safe))”"
}

/// A stored text in a form that can be printed on one line: control characters are written as in Swift, such as `\u{1B}`.
func shown(_ text: String) -> String {
    text.unicodeScalars.map { $0.properties.isGraphic ? String($0) : $0.escaped(asASCII: true) }.joined()
}

/// A character of the input in a form that can be printed, with a word that says what it is.
func named(_ scalar: Unicode.Scalar) -> String {
    guard scalar.properties.isGraphic else {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "the character U+\(String(repeating: "0", count: max(4 - digits.count, 0)))\(digits)"
    }
    return "the character “\(scalar)”"
}

extension Unicode.Scalar.Properties {
    fileprivate var isGraphic: Bool {
        switch generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
