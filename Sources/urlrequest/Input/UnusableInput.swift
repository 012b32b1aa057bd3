import RequestOperations

/// Why an argument or line of the input does not make a request.
struct UnusableInput: Error, Equatable {
    /// The column of the error, in characters from 1. `nil` if the whole text is wrong or the column is unknown.
    let column: Int?

    private let fault: String

    /// Makes an error.
    ///
    /// - Parameter fault: The reason, as half a sentence.
    init(_ fault: String, column: Int? = nil) {
        self.fault = fault
        self.column = column
    }

    /// The reason as half a sentence, with the column, for the terminal.
    var reason: String { column.map { "\(fault) (column \($0))" } ?? fault }

    /// The reason as half a sentence, with the column in a part of the text, such as `the URL`.
    func reason(in part: String) -> String { column.map { "\(fault) (column \($0) of \(part))" } ?? fault }

    /// The same error for a text that begins at a column of another text.
    func beginning(at start: Int) -> UnusableInput {
        UnusableInput(fault, column: start + (column ?? 1) - 1)
    }
}

/// The system's text for an error number.
func errorText(_ number: Int32) -> String {
    String(cString: strerror(number))
}

/// The text of an error in one line: that of the system if it refused something, or else what the error says itself.
func errorText(_ error: any Error) -> String {
    if let error = error as? UnusableInput { return error.reason }
    if let error = error as? POSIXError { return errorText(error.code.rawValue) }
    guard let error = error as? CocoaError else { return "\(error)" }
    return error.underlyingNumber.map(errorText) ?? error.localizedDescription
}

/// The text of a request's error in one line. It names an option of this tool where the library names a setting.
func toolText(_ error: any Error) -> String {
    "\(error)".replacingOccurrences(
        of: "add the certificate of a private authority to TrustPolicy.additionalRoots", with: rootsAdvice)
}

/// What helps against a root that is unknown.
let rootsAdvice = "--cacert FILE trusts the root of a private authority"

extension CocoaError {
    /// The number of the system's error that is the cause.
    fileprivate var underlyingNumber: Int32? {
        switch userInfo[NSUnderlyingErrorKey] {
        case let cause as POSIXError: cause.code.rawValue
        case let cause as NSError where cause.domain == NSPOSIXErrorDomain: Int32(exactly: cause.code)
        default: nil
        }
    }
}

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
